import { lstat, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve, sep } from 'node:path';
import type { FileProblem, SourceDocument } from './document.ts';
import { parseDocuments } from './parse.ts';

/** What the files under some paths hold. */
export interface FolderContent {
  /** In a stable order: by the paths as given, then by file name, then by place in the file. */
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly FileProblem[];
}

/** One file as it was last read. */
export interface FileContent extends FolderContent {
  readonly text: string;
  /** Whether the documents are those of a text without errors. */
  readonly isWhole: boolean;
}

/** Everything read, by file name, in order. */
export interface Contents {
  readonly files: ReadonlyMap<string, FileContent>;
  /** Problems of paths that are no files of the map. */
  readonly problems: readonly FileProblem[];
}

export const noContents: Contents = { files: new Map(), problems: [] };

/** Everything in one list. */
export function flatten(contents: Contents): FolderContent {
  const files = [...contents.files.values()];
  return {
    documents: files.flatMap(({ documents }) => documents),
    problems: [...contents.problems, ...files.flatMap(({ problems }) => problems)],
  };
}

const extensions: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);
const maximumSize = 64 * 1024 * 1024;

/**
 * Called before anything in a folder is looked at, possibly several times; `name`: only this entry of it matters.
 * Must not throw.
 */
export type OnFolder = (folder: string, name?: string) => void | Promise<void>;

/**
 * Reads files and, in folders, all YAML and JSON files below them, except hidden ones. What did not change since
 * `known` is not parsed again; what cannot be read, or not without errors, keeps the documents it had in `known`.
 */
export async function readContents(paths: readonly string[], known: Contents, onFolder: OnFolder): Promise<Contents> {
  const reading = new Reading(known, onFolder);
  for (const path of paths) await reading.readPath(path);
  return reading;
}

class Reading implements Contents {
  readonly files = new Map<string, FileContent>();
  readonly problems: FileProblem[] = [];
  private readonly known: Contents;
  private readonly onFolder: OnFolder;
  private readonly seen = new Set<string>();

  constructor(known: Contents, onFolder: OnFolder) {
    this.known = known;
    this.onFolder = onFolder;
  }

  /** A path that was asked for: it has to exist, whatever its name. */
  async readPath(path: string): Promise<void> {
    await this.onFolder(dirname(resolve(path)), basename(resolve(path)));
    try {
      const info = await stat(path);
      if (info.isDirectory()) await this.readFolder(path, []);
      else if (info.isFile()) await this.readFile(path);
      else this.report(path, 'it is neither a file nor a folder');
    } catch (error) {
      this.report(path, isMissing(error) ? 'there is no such file or folder' : reasonOf(error));
      if (!isMissing(error)) this.keepBelow(path);
    }
  }

  private async readFolder(folder: string, above: readonly string[]): Promise<void> {
    try {
      const real = await realpath(folder);
      // A link to a folder above would lead in circles.
      if (above.includes(real)) return;
      await this.onFolder(real);
      const names = await readdir(folder);
      for (const name of names.filter((name) => !name.startsWith('.')).sort()) {
        await this.readEntry(join(folder, name), [...above, real]);
      }
    } catch (error) {
      if (isMissing(error)) return;
      this.report(folder, `the folder cannot be read: ${reasonOf(error)}`);
      this.keepBelow(folder);
    }
  }

  private async readEntry(path: string, above: readonly string[]): Promise<void> {
    try {
      const info = await stat(path);
      if (info.isDirectory()) await this.readFolder(path, above);
      else if (info.isFile() && extensions.has(extname(path).toLowerCase())) await this.readFile(path);
    } catch (error) {
      // Gone since the folder was listed, unless it is a link.
      if (isMissing(error) && !(await isLink(path))) return;
      this.report(path, isMissing(error) ? 'the symbolic link leads nowhere' : reasonOf(error));
      this.keepBelow(path);
    }
  }

  private async readFile(path: string): Promise<void> {
    const identity = resolve(path);
    if (this.seen.has(identity)) return;
    this.seen.add(identity);
    const known = this.known.files.get(path);
    try {
      const real = await realpath(path);
      await this.onFolder(dirname(real), basename(real));
      const { size } = await stat(real);
      if (size > maximumSize) throw new Error(`it has ${size} bytes; at most ${maximumSize} are read, split it`);
      const text = decode(await readFile(real));
      this.files.set(path, known?.text === text ? known : parse(path, text, known));
    } catch (error) {
      if (isMissing(error)) return;
      const problem: FileProblem = { file: path, severity: 'error', message: `it cannot be read: ${reasonOf(error)}` };
      const documents = known?.documents ?? [];
      this.files.set(path, { text: unreadable, documents, problems: [problem], isWhole: known?.isWhole ?? false });
    }
  }

  private report(file: string, message: string): void {
    this.problems.push({ file, severity: 'error', message });
  }

  /** What is for the moment out of sight stays as it was; why it is, was reported. */
  private keepBelow(path: string): void {
    for (const [file, content] of this.known.files) {
      const isBelow = file === path || resolve(file).startsWith(`${resolve(path)}${sep}`);
      if (isBelow && !this.files.has(file)) this.files.set(file, { ...content, problems: [], text: unreadable });
    }
  }
}

/** The text of no file, so that a file that can be read again is parsed again. */
const unreadable = '\uFFFF';

function parse(path: string, text: string, known: FileContent | undefined): FileContent {
  const parsed = parseDocuments(text, path);
  const isWhole = parsed.problems.every(({ severity }) => severity === 'warning');
  if (isWhole || known?.isWhole !== true) return { ...parsed, text, isWhole };
  return { documents: known.documents, problems: parsed.problems, text, isWhole: true };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error('it is not UTF-8; save it in this encoding');
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

function isMissing(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}

const reasons: ReadonlyMap<unknown, string> = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['ELOOP', 'its symbolic links lead in a circle'],
  ['EMFILE', 'too many files are open'],
  ['EISDIR', 'it is a folder'],
]);

function reasonOf(error: unknown): string {
  return reasons.get(codeOf(error)) ?? (error instanceof Error ? error.message : String(error));
}
