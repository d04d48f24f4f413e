import { expect, test } from '@jest/globals';
import { fail } from '../../../../src/cli/doctor/facts.ts';
import { printVerdicts } from '../../../../src/cli/doctor/report.ts';

test('whoever answers instead of the API server cannot control the terminal', () => {
  const lines: string[] = [];
  const line = (text = ''): void => void lines.push(text);
  const verdict = fail('backends', 'Service "a\u001b[2J" has no endpoint', 'kubectl get svc a\n\u001b[2J');
  printVerdicts({ line, heading: line, style: (_style, text) => text }, [verdict]);
  expect(lines).toEqual([
    String.raw`fail backends: Service "a\u001b[2J" has no endpoint`,
    String.raw`     $ kubectl get svc a\n\u001b[2J`,
    '0 ok, 0 warnings, 1 failed',
  ]);
});
