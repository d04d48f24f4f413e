import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'launcher-'));
  cpSync('bin', join(root, 'package/bin'), { recursive: true });
  mkdirSync(join(root, 'package/dist'));
  writeFileSync(join(root, 'package/dist/sallyport.js'), '');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A stand-in for Node at `path`: says its version, and given a program it prints both and exits with 7. */
function installNode(path: string, version: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else echo ${version} "$@"; exit 7; fi\n`,
  );
  chmodSync(path, 0o755);
}

function launch(...args: readonly string[]) {
  const launcher = join(root, 'package/bin/sallyport');
  const { status, stdout, stderr } = spawnSync(launcher, args, {
    encoding: 'utf8',
    env: { PATH: `${join(root, 'path')}:/usr/bin:/bin` },
  });
  return { status, stdout: stdout.trim(), stderr: stderr.trim() };
}

describe('bin/sallyport', () => {
  test('runs the program with the installed Node where that is new enough, and hands on arguments and exit code', () => {
    installNode(join(root, 'path/node'), 'v22.19.0');
    const program = join(root, 'package/dist/sallyport.js');
    expect(launch('check', 'a b')).toMatchObject({ status: 7, stdout: `v22.19.0 ${program} check a b` });
  });

  test.each(['v20.20.2', 'v22.18.9'])('passes over an installed Node %s for the one that make brought', (version) => {
    installNode(join(root, 'path/node'), version);
    installNode(join(root, 'package/tools/node/node_modules/.bin/node'), 'v24.21.0');
    expect(launch().stdout).toMatch(/^v24\.21\.0 /);
  });

  test('says which Node to install where none is new enough', () => {
    installNode(join(root, 'path/node'), 'v20.20.2');
    const { status, stderr } = launch();
    expect(status).toBe(2);
    expect(stderr).toBe('sallyport: needs Node 22.19 or newer, found v20.20.2; install Node 24 (https://nodejs.org)');
  });

  test('says how to build where that was not done', () => {
    installNode(join(root, 'path/node'), 'v24.21.0');
    rmSync(join(root, 'package/dist/sallyport.js'));
    const { status, stderr } = launch();
    expect(status).toBe(2);
    expect(stderr).toContain('make -C');
  });

  test('finds its program through the links of a package manager', () => {
    installNode(join(root, 'path/node'), 'v24.21.0');
    symlinkSync('package/bin/sallyport', join(root, 'relative'));
    symlinkSync(join(root, 'relative'), join(root, 'sallyport'));
    const run = spawnSync(join(root, 'sallyport'), ['--help'], {
      encoding: 'utf8',
      env: { PATH: `${join(root, 'path')}:/usr/bin:/bin` },
    });
    expect(run.stdout).toContain('package/dist/sallyport.js --help');
  });

  test('asks for the same Node as package.json', () => {
    const floor = execFileSync('sh', ['-c', '. bin/find-node.sh; echo $node_floor'], { encoding: 'utf8' }).trim();
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { engines: { node: string } };
    expect(manifest.engines.node).toBe(`>=${floor}`);
  });
});
