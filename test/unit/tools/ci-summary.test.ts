import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ci-summary-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const deployed = {
  name: `${process.cwd()}/test/deploy/chart.test.ts`,
  assertionResults: [
    { status: 'passed', fullName: 'a' },
    { status: 'pending', fullName: 'the chart renders' },
  ],
};

function summarise(
  report: object,
  { status = '0', skips = '' } = {},
): { readonly code: number | null; readonly lines: readonly string[] } {
  writeFileSync(join(folder, 'test.json'), JSON.stringify(report));
  writeFileSync(join(folder, 'skips.txt'), skips);
  const { status: code, stdout } = spawnSync(
    process.execPath,
    ['tools/ci-summary.ts', folder, status, join(folder, 'skips.txt')],
    { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } },
  );
  return { code, lines: stdout.trimEnd().split('\n') };
}

test('a skipped test fails the run', () => {
  expect(summarise({ numPassedTests: 1, numFailedTests: 0, testResults: [deployed] })).toEqual({
    code: 1,
    lines: ['skipped without a reason: test/deploy/chart.test.ts: the chart renders', '1 passed, 1 failed'],
  });
});

test('a skipped test that is listed does not', () => {
  expect(
    summarise(
      { numPassedTests: 1, testResults: [deployed] },
      { skips: '# comment\n\ntest/deploy/chart.test.ts: the chart\n' },
    ),
  ).toEqual({
    code: 0,
    lines: ['skipped: test/deploy/chart.test.ts: the chart renders', '1 passed, 0 failed'],
  });
});

test('a test to do counts as skipped', () => {
  const todo = { name: 'x.test.ts', assertionResults: [{ status: 'todo', fullName: 'not tested: no input' }] };
  expect(summarise({ testResults: [todo] })).toEqual({
    code: 1,
    lines: ['skipped without a reason: x.test.ts: not tested: no input', '0 passed, 1 failed'],
  });
});

test('failed tests, files that do not load and conformance tests are added up', () => {
  mkdirSync(join(folder, 'conformance'));
  writeFileSync(join(folder, 'conformance/summary.txt'), 'ok  A\n40 passed, 2 failed, 3 skipped\n');
  expect(summarise({ numPassedTests: 5, numFailedTests: 1, numRuntimeErrorTestSuites: 1, testResults: [] })).toEqual({
    code: 0,
    lines: ['45 passed, 4 failed'],
  });
});

test('a step that fails beside the tests is one failure', () => {
  expect(summarise({ numPassedTests: 5, testResults: [] }, { status: '2' })).toEqual({
    code: 0,
    lines: ['5 passed, 1 failed'],
  });
});
