import { afterAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'judge-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

type Told = readonly [action: string, second: number, test: string, output?: string];

interface Judgement {
  readonly code: number | null;
  readonly lines: readonly string[];
}

function judge(...events: readonly Told[]): Judgement {
  return judgeBy([], events);
}

/** Judges with more arguments after the file of events. */
function judgeBy(more: readonly string[], events: readonly Told[]): Judgement {
  const input = events
    .map(([action, second, name, output]) =>
      JSON.stringify({ Action: action, Time: new Date(second * 1000).toISOString(), Test: name, Output: output }),
    )
    .join('\n');
  const { status, stdout } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'judge.ts'), join(folder, 'events.json'), ...more],
    { input, encoding: 'utf8' },
  );
  return { code: status, lines: stdout.trimEnd().split('\n') };
}

test('a run in which a test passed and none failed has succeeded', () => {
  const { code, lines } = judge(
    ['run', 0, 'Suite/A'],
    ['pass', 2.5, 'Suite/A'],
    ['run', 3, 'Suite/B'],
    ['output', 3, 'Suite/B', '  x.go:5: Skipping B: no Mesh\n'],
    ['output', 3, 'Suite/B', '--- SKIP: Suite/B\n'],
    ['skip', 3, 'Suite/B'],
    ['pass', 4, 'Suite'],
  );
  expect(lines).toEqual(['ok      2.5 s  A', 'skip     1    no Mesh: B', '1 passed, 0 failed, 1 skipped']);
  expect(code).toBe(0);
});

describe('a run that skips a test', () => {
  const skip = (reason: string): readonly Told[] => [
    ['pass', 1, 'Suite/A'],
    ['output', 3, 'Suite/B', `  x.go:5: Skipping B: ${reason}\n`],
    ['skip', 3, 'Suite/B'],
    ['pass', 4, 'Suite'],
  ];
  const reasons = join(folder, 'reasons.txt');
  writeFileSync(reasons, '# comment\n\nMesh  is not claimed\n');

  test('for a feature on the list has succeeded', () => {
    expect(judgeBy([reasons], skip('suite does not support Mesh')).code).toBe(0);
  });

  test.each(['suite does not support HTTPRoute', 'suite does not support MeshOther', 'test explicitly skipped', '#'])(
    'for another reason has failed: %s',
    (reason) => {
      const { code, lines } = judgeBy([reasons], skip(reason));
      expect(lines).toContain(`B was skipped for a reason that ${reasons} does not name`);
      expect(code).toBe(1);
    },
  );

  test('without a word has failed', () => {
    expect(
      judgeBy(
        [reasons],
        [
          ['pass', 1, 'Suite/A'],
          ['skip', 3, 'Suite/B'],
          ['pass', 4, 'Suite'],
        ],
      ).code,
    ).toBe(1);
  });
});

test('a failed test is shown with its failed steps', () => {
  const { code, lines } = judge(
    ['run', 0, 'Suite/A'],
    ['fail', 1, 'Suite/A/step/inner'],
    ['fail', 1, 'Suite/A'],
    ['fail', 1, 'Suite'],
  );
  expect(lines).toEqual(['FAIL    1.0 s  A', '              step/inner', '0 passed, 1 failed, 0 skipped']);
  expect(code).toBe(1);
});

test('a run that tested nothing has failed, though the suite says it passed', () => {
  expect(judge(['skip', 0, 'Suite/A'], ['pass', 1, 'Suite']).code).toBe(1);
});

test('a run that was cut off has failed', () => {
  const { code, lines } = judge(['run', 0, 'Suite/A'], ['pass', 1, 'Suite/A']);
  expect(lines.at(-1)).toBe('1 passed, 0 failed, 0 skipped; the run ended without a verdict');
  expect(code).toBe(1);
});

test('a suite that failed before its first test says why', () => {
  const { code, lines } = judge(['output', 0, 'Suite', 'no GatewayClass\n'], ['fail', 1, 'Suite']);
  expect(lines.slice(1)).toEqual(['the suite failed outside of its tests:', 'no GatewayClass']);
  expect(code).toBe(1);
});

test('events are kept as they came', () => {
  judge(['pass', 0, 'Suite/A'], ['pass', 1, 'Suite']);
  expect(readFileSync(join(folder, 'events.json'), 'utf8').trimEnd().split('\n')).toHaveLength(2);
});
