import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** The program as users have it: bundled, in a folder of its own, beside the files that go with it. */
export interface BuiltProgram {
  /** The file to be run by Node. */
  readonly file: string;
  remove(): void;
}

/** Builds the program; takes a second or two. Runs of it start much faster than runs of the sources. */
export function buildProgram(): BuiltProgram {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-built-'));
  for (const path of ['package.json', 'docs']) symlinkSync(resolve(path), join(folder, path));
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/build.ts', join(folder, 'dist')], { env: { ...process.env, NODE_OPTIONS: '' } });
  return { file: join(folder, 'dist/sallyport.js'), remove: () => rmSync(folder, { recursive: true, force: true }) };
}
