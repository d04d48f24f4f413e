import { describe, expect, test } from '@jest/globals';
import { writeJson } from '../../../../src/cli/report/json.ts';
import { problem, reported, written } from '../../../support/report.ts';

describe('json', () => {
  test('holds every finding with place and identity, and a summary', async () => {
    const object = reported('kind: HTTPRoute\nspec: {}\n', [{ rule: 'no-rules', severity: 'note', path: ['spec'], message: 'It has no "rules".' }]);
    expect(JSON.parse(await written(writeJson, object, problem({ position: { line: 9, column: 2 } })))).toEqual({
      tool: 'sallyport',
      version: '1.2.3',
      findings: [
        { file: 'a.yaml', line: 2, column: 1, object: 'HTTPRoute shop/cart', rule: 'no-rules', severity: 'note', field: 'spec', message: 'It has no "rules".', identity: 'no-rules HTTPRoute shop/cart spec' },
        { file: 'a.yaml', line: 9, column: 2, rule: 'unreadable-file', severity: 'error', field: '', message: 'it is broken' },
      ],
      summary: { objects: 1, error: 1, warning: 0, note: 1, suppressed: 0 },
    });
  });

  test('is JSON without findings, too', async () => {
    expect(JSON.parse(await written(writeJson))).toMatchObject({ findings: [], summary: { objects: 0 } });
  });
});
