import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { load } from 'js-yaml';

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default: string }>>;
  readonly runs: {
    readonly using: string;
    readonly steps: readonly {
      readonly name: string;
      readonly shell: string;
      readonly env?: Readonly<Record<string, string>>;
      readonly run: string;
    }[];
  };
}

const action = load(readFileSync('action.yml', 'utf8')) as Action;
const [, step] = action.runs.steps;

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'action-'));
  mkdirSync(join(folder, 'bin'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the last step as a runner would, with a program that notes its arguments and ends with `code`. */
function run(
  inputs: Readonly<Record<string, string>>,
  code = 0,
): { readonly status: number | null; readonly calls: readonly string[] } {
  writeFileSync(
    join(folder, 'bin/sallyport'),
    `#!/bin/sh\nprintf '<%s>' "$@" >> ${folder}/calls; echo >> ${folder}/calls\nexit ${code}\n`,
  );
  chmodSync(join(folder, 'bin/sallyport'), 0o755);
  const env = Object.entries(step?.env ?? {}).map(([name, value]) => {
    const input = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(value)?.[1] ?? '';
    return [name, inputs[input] ?? action.inputs[input]?.default];
  });
  // How GitHub runs a step of shell bash.
  const { status } = spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step?.run ?? ''], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      GITHUB_ACTION_PATH: folder,
      ...(Object.fromEntries(env) as Record<string, string>),
    },
  });
  return { status, calls: readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n') };
}

describe('the GitHub action', () => {
  test('hands on its defaults', () => {
    expect(run({})).toEqual({
      status: 0,
      calls: ['<check><--bundle><1.7><--channel><standard><--profile><standard><--output><github><--><.>'],
    });
  });

  test('hands on paths line by line, and never runs what they say', () => {
    const { calls } = run({ paths: 'a b\n\n$(touch hacked)\n', stateless: 'true', baseline: 'known.json' });
    expect(calls).toEqual([
      '<check><--bundle><1.7><--channel><standard><--profile><standard><--stateless><--baseline><known.json><--output><github><--><a b><$(touch hacked)>',
    ]);
  });

  test('hands on that the files are all there is', () => {
    expect(run({ closed: 'true' }).calls).toEqual([
      '<check><--bundle><1.7><--channel><standard><--profile><standard><--closed><--output><github><--><.>',
    ]);
  });

  test('writes a report beside, and ends as the check does', () => {
    expect(run({ 'sarif-file': 'report.sarif' }, 1)).toEqual({
      status: 1,
      calls: [expect.stringContaining('<sarif>'), expect.stringContaining('<github>')],
    });
  });

  test('stops where the check could not be done', () => {
    expect(run({ 'sarif-file': 'report.sarif' }, 2)).toEqual({
      status: 2,
      calls: [expect.stringContaining('<sarif>')],
    });
  });

  test('every input has its place in the script and in the guide', () => {
    const used = Object.values(step?.env ?? {}).join(' ');
    const guide = readFileSync('docs/guides/check.md', 'utf8');
    expect(
      Object.keys(action.inputs).filter(
        (input) => !used.includes(`inputs.${input} `) || !guide.includes(`\`${input}\``),
      ),
    ).toEqual([]);
  });
});
