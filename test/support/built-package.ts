import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The package as users have it: bundled, in a folder of its own, beside the files that go with it. */
export interface BuiltPackage {
  readonly folder: string;
  /** The program, to be run by Node. */
  readonly program: string;
  remove(): void;
}

/** Builds the package; takes some seconds. Runs of the program start much faster than runs of the sources. */
export function buildPackage(): BuiltPackage {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-built-'));
  for (const path of ['package.json', 'README.md', 'LICENSE', 'bin', 'docs', 'examples'])
    cpSync(path, join(folder, path), { recursive: true });
  execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', 'tools/build.ts', join(folder, 'dist')], {
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  return {
    folder,
    program: join(folder, 'dist/sallyport.js'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
