import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The location of a package file by its path from the root, both in sources and in the bundle. `undefined` if it does not exist. */
export function packageFile(path: string): string | undefined {
  try {
    return readFileSync(join(packageRoot(), path), 'utf8');
  } catch {
    return undefined;
  }
}

/** The version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(packageFile('package.json') ?? '{}') as { readonly version?: string };
  return version ?? 'unknown';
}

function packageRoot(): string {
  let folder = import.meta.dirname;
  while (!existsSync(join(folder, 'package.json')) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
