import { lstat, readdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path';
import { isMissing, reasonOf } from './errors.ts';
import { notRegular } from './read-file.ts';

/** The file at a path, or why it cannot be determined. */
export type Found =
  | { readonly type: 'file'; readonly path: string }
  | {
      readonly type: 'problem';
      readonly path: string;
      readonly message: string;
      /** Whether there is no file or folder at the path, as opposed to a path that is temporarily inaccessible. */
      readonly isGone: boolean;
      /** If set, a given path does not exist. */
      readonly isMissing?: true;
    };

/**
 * Called before anything in a folder is read, possibly several times. If `name` is given, only this entry of it matters.
 * Must not throw.
 */
export type OnFolder = (folder: string, name?: string) => void | Promise<void>;

const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/**
 * Yields the given files and, in folders, all YAML and JSON files below them, except hidden ones, in a stable order: by the given
 * paths, then by name. Follows symbolic links, except those to a folder that contains the one with the link. A file that is reached
 * twice by the same path is yielded once.
 */
export async function* walk(paths: readonly string[], onFolder: OnFolder): AsyncGenerator<Found> {
  const seen = new Set<string>();
  for (const path of paths) {
    for await (const found of visitPath(path, onFolder)) {
      if (found.type === 'file') {
        const identity = resolve(found.path);
        if (seen.has(identity)) continue;
        seen.add(identity);
      }
      yield found;
    }
  }
}

interface Way {
  /** The real paths of the parent folders, without symbolic links. */
  readonly above: readonly string[];
  readonly onFolder: OnFolder;
}

/** A given path must exist, whatever its name is. */
async function* visitPath(path: string, onFolder: OnFolder): AsyncGenerator<Found> {
  await onFolder(dirname(resolve(path)), basename(resolve(path)));
  try {
    const info = await stat(path);
    if (info.isDirectory()) yield* visitFolder(path, { above: [], onFolder });
    else if (info.isFile()) yield { type: 'file', path };
    else yield { type: 'problem', path, message: 'not a file or folder; use - to read from a pipe', isGone: false };
  } catch (error) {
    const isGone = isMissing(error);
    yield { type: 'problem', path, message: reasonOf(error), isGone, ...(isGone && { isMissing: true }) };
  }
}

async function* visitFolder(folder: string, { above, onFolder }: Way): AsyncGenerator<Found> {
  try {
    const real = await realpath(folder);
    // A link to a parent folder would cause an endless loop, and a link to `/` would lead to all files of the machine.
    if (above.some((within) => contains(real, within))) return;
    await onFolder(real);
    const names = await readdir(folder);
    for (const name of names.filter((name) => !name.startsWith('.')).sort()) {
      yield* visitEntry(join(folder, name), { above: [...above, real], onFolder });
    }
  } catch (error) {
    if (!isMissing(error))
      yield { type: 'problem', path: folder, message: `cannot read the folder: ${reasonOf(error)}`, isGone: false };
  }
}

/** Whether a folder is the other one, or above it. Both paths are real. */
function contains(folder: string, other: string): boolean {
  const way = relative(folder, other);
  return way !== '..' && !way.startsWith(`..${sep}`);
}

async function* visitEntry(path: string, way: Way): AsyncGenerator<Found> {
  try {
    const info = await stat(path);
    if (info.isDirectory()) yield* visitFolder(path, way);
    else if (!extensions.has(extname(path).toLowerCase())) return;
    else if (info.isFile()) yield { type: 'file', path };
    else yield { type: 'problem', path, message: notRegular, isGone: false };
  } catch (error) {
    const isGone = isMissing(error);
    // The entry was deleted after the folder was listed, unless it is a link.
    if (isGone && !(await isLink(path))) return;
    yield { type: 'problem', path, message: isGone ? 'the symbolic link is broken' : reasonOf(error), isGone: false };
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}
