import { notRegular } from './read-file.ts';

/** Whether an error of `node:fs` means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'file or folder not found'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ELOOP', 'symbolic links form a loop'],
  ['EMFILE', 'too many files are open'],
  ['EISDIR', 'expected a file, found a folder'],
  // A pipe that nobody reads, or a socket.
  ['ENXIO', notRegular],
]);

/** Why a read failed, for people. */
export function reasonOf(error: unknown): string {
  return reasons.get(codeOf(error)) ?? (error instanceof Error ? error.message : String(error));
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
