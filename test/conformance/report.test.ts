import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

// A dry run of conformance.sh: the scripts are real, the cluster and the suite are stubs.

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'conformance-'));
  for (const file of ['conformance.sh', 'run.sh', 'judge.ts', 'skips.txt'])
    cpSync(join('test/conformance', file), join(root, 'test/conformance', file));
  mkdirSync(join(root, 'test/cluster'));
  mkdirSync(join(root, 'bin'));
  writeFileSync(join(root, 'package.json'), '{"version":"0.1.0","type":"module"}');
  writeFileSync(
    join(root, 'test/cluster/lib.sh'),
    'HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)\nROOT=$(cd "$HERE/../.." && pwd -P)\nlog() { echo "$@"; }\ndie() { echo "$@" >&2; exit 1; }\n',
  );
  for (const name of ['build', 'up', 'down', 'image', 'crds']) script(`test/cluster/${name}.sh`, 'exit 0');
  // The suite writes its report where -report-output says, and its events to stdout.
  script(
    'test/cluster/run.sh',
    `
if [ "$1" = test2json ]; then
  for flag in "$@"; do case $flag in -report-output=*) echo 'kind: ConformanceReport' >"\${flag#*=}";; esac; done
  echo '{"Action":"pass","Time":"2026-01-01T00:00:00Z","Test":"Suite/A"}'
  echo "{\\"Action\\":\\"\${VERDICT:-pass}\\",\\"Time\\":\\"2026-01-01T00:00:01Z\\",\\"Test\\":\\"Suite\\"}"
else
  cat >/dev/null
fi`,
  );
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function script(path: string, text: string): void {
  writeFileSync(join(root, path), `#!/usr/bin/env bash\n${text}\n`);
  chmodSync(join(root, path), 0o755);
}

function run(settings: Readonly<Record<string, string>>): { readonly code: number | null; readonly stderr: string } {
  const env = {
    PATH: process.env['PATH'],
    OUT: join(root, 'out'),
    REPORT: 'docs/conformance/report.yaml',
    ...settings,
  };
  const { status: code, stderr } = spawnSync(join(root, 'test/conformance/conformance.sh'), {
    cwd: root,
    env,
    input: '',
    encoding: 'utf8',
  });
  return { code, stderr };
}

const report = (): string => join(root, 'docs/conformance/report.yaml');

test('a complete run that passes leaves the report of the suite under docs', () => {
  expect(run({})).toEqual({ code: 0, stderr: '' });
  expect(readFileSync(report(), 'utf8')).toBe('kind: ConformanceReport\n');
  expect(readFileSync(join(root, 'out/summary.txt'), 'utf8')).toContain('1 passed, 0 failed, 0 skipped');
});

test('a run that fails leaves none', () => {
  expect(run({ VERDICT: 'fail' }).code).toBe(1);
  expect(existsSync(report())).toBe(false);
});

test.each([
  ['PROFILES', 'GATEWAY-HTTP'],
  ['RUN', 'A'],
  ['FEATURES', 'Gateway'],
])('a run of a part (%s) is not started where it is to leave a report', (name, value) => {
  expect(run({ [name]: value })).toMatchObject({
    code: 1,
    stderr: 'REPORT requires a complete run: omit PROFILES, RUN and FEATURES\n',
  });
  expect(existsSync(join(root, 'out'))).toBe(false);
});
