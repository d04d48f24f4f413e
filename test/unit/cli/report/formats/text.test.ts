import { describe, expect, test } from '@jest/globals';
import { writeText } from '../../../../../src/cli/report/formats/text.ts';
import { problem, reported, skipped, written } from '../../../../support/report.ts';

const route = 'kind: HTTPRoute\nspec:\n  rules:\n  - name: x\n';

describe('text', () => {
  test('has a line for each finding that editors make a link of, and the line of the file with a caret', async () => {
    const object = reported(route, [
      { rule: 'name-taken', severity: 'error', path: ['spec', 'rules', 0, 'name'], message: 'The name is taken.' },
      { rule: 'no-parents', severity: 'warning', path: [], message: 'It attaches to nothing.' },
    ]);
    expect(await written(writeText, object)).toBe(
      'a.yaml:1:1: warning [no-parents] It attaches to nothing.\n   1 | kind: HTTPRoute\n     | ^\n' +
        'a.yaml:4:5: error [name-taken] spec.rules[0].name: The name is taken.\n   4 |   - name: x\n     |     ^\n' +
        '1 object: 1 error, 1 warning\n',
    );
  });

  test('has no such line where the file could not be read', async () => {
    expect(await written(writeText, problem({}))).toBe(
      'a.yaml:1:1: error [unreadable-file] it is broken\n0 objects: 1 error, 0 warnings\n',
    );
  });

  test('says nothing of what belongs to others', async () => {
    expect(await written(writeText, skipped('kind: Deployment\n'))).toBe('0 objects: 0 errors, 0 warnings\n');
  });

  test('counts what is suppressed, and leaves it out', async () => {
    const object = reported(route, [
      { rule: 'no-parents', severity: 'error', path: [], message: 'It attaches to nothing.' },
    ]);
    const suppressed = {
      ...object,
      findings: object.findings.map((finding) => ({
        ...finding,
        suppression: { by: 'baseline' as const, reason: 'known' },
      })),
    };
    expect(await written(writeText, suppressed)).toBe('1 object: 0 errors, 0 warnings, 1 suppressed\n');
  });
});
