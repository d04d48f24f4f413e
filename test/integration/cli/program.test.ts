import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { startProgram } from '../../support/program.ts';

test('sallyport --version prints the version of the package', async () => {
  const program = startProgram('--version');
  expect(await program.ended()).toBe(0);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
  expect(program.output()).toBe(`${version}\n`);
});

test('an error shows invisible characters in the names and texts of files as escapes, and keeps its lines', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-names-'));
  for (const name of ['a\u001b[31m.yaml', 'b\u202e.yaml']) writeFileSync(join(folder, name), 'a: [\n');
  writeFileSync(join(folder, 'kubeconfig'), 'clusters: {\u001b[31m');
  const errorsOf = async (...args: readonly string[]): Promise<string> => {
    const program = startProgram(...args);
    expect(await program.ended()).toBe(2);
    return program.errors().replaceAll(`${folder}/`, '');
  };
  expect((await errorsOf('explain', 'http://a.example.com/', '-f', folder)).split('\n')).toEqual([
    expect.stringMatching(/^sallyport: a\\u001b\[31m\.yaml:\d+:\d+: invalid YAML: /),
    expect.stringMatching(/^b\\u202e\.yaml:\d+:\d+: invalid YAML: /),
    '',
  ]);
  const errors = await errorsOf('audit', '--cluster', '--kubeconfig', join(folder, 'kubeconfig'));
  expect(errors).toContain('clusters: {\\u001b[31m');
  rmSync(folder, { recursive: true });
});

test('an error about arguments shows their invisible characters as escapes', async () => {
  const errorsOf = async (...args: readonly string[]): Promise<string | undefined> => {
    const program = startProgram(...args);
    expect(await program.ended()).toBeGreaterThan(0);
    return program.errors().split('\n')[0];
  };
  expect(await errorsOf('check', '--a\u001b[31m.yaml')).toBe("error: unknown option '--a\\u001b[31m.yaml'");
  expect(await errorsOf('\u202e')).toBe("error: unknown command '\\u202e'");
  expect(await errorsOf('check', '--output', '\u0007')).toContain("argument '\\u0007' is invalid");
});

test('the kubectl plugin runs the program beside it, also by a link', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-plugin-'));
  mkdirSync(join(folder, 'bin'));
  copyFileSync('bin/kubectl-sallyport', join(folder, 'bin/kubectl-sallyport'));
  writeFileSync(join(folder, 'bin/sallyport'), '#!/bin/sh\nprintf "<%s>" "$@"\n');
  for (const name of ['sallyport', 'kubectl-sallyport']) chmodSync(join(folder, 'bin', name), 0o755);
  symlinkSync('bin/kubectl-sallyport', join(folder, 'kubectl-sallyport'));
  for (const command of ['bin/kubectl-sallyport', 'kubectl-sallyport']) {
    expect(execFileSync(join(folder, command), ['check', 'a b'], { encoding: 'utf8' })).toBe('<check><a b>');
  }
  rmSync(folder, { recursive: true });
});
