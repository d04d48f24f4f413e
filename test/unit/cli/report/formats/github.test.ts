import { describe, expect, test } from '@jest/globals';
import { writeGithub } from '../../../../../src/cli/report/formats/github.ts';
import { reported, written } from '../../../../support/report.ts';

describe('github', () => {
  test('writes workflow commands, in which no text can end a property or a line', async () => {
    const object = reported(
      'kind: HTTPRoute\n',
      [
        { rule: 'one', severity: 'error', path: ['kind'], message: '100% wrong: a, b' },
        { rule: 'two', severity: 'note', path: [], message: 'line\nbreak' },
      ],
      'a,b: c.yaml',
    );
    expect(await written(writeGithub, object)).toBe(
      '::error file=a%2Cb%3A c.yaml,line=1,col=1,title=one::kind: 100%25 wrong: a, b\n' +
        '::notice file=a%2Cb%3A c.yaml,line=1,col=1,title=two::line\\nbreak\n' +
        '1 object: 1 error, 0 warnings, 1 note\n',
    );
  });
});
