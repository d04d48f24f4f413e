import { realpath, stat } from 'node:fs/promises';
import { basename, dirname, resolve, sep } from 'node:path';
import { monotonicNow } from '../time/clock.ts';
import { inSlices } from '../time/slices.ts';
import type { FileProblem, SourceDocument } from './document.ts';
import { isMissing, reasonOf } from './errors.ts';
import { parseInSteps } from './parse.ts';
import { largeFile, readRegular } from './read-file.ts';
import { walk, type Found, type OnFolder } from './walk.ts';

/** The content of the files below some paths. */
export interface FolderContent {
  /** In a stable order: by the given paths, then by file name, then by position in the file. */
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly FileProblem[];
}

/** A file as last read. */
export interface FileContent extends FolderContent {
  readonly text: string;
  /** Characters of the text that the documents come from. */
  readonly length: number;
  /** Whether the documents come from a text without errors. */
  readonly isWhole: boolean;
  /** The inode. A file that is replaced has another one. */
  readonly inode: number;
}

/** A text that may be half written. */
interface Waiting {
  readonly text: string;
  /** The time when it was first read. */
  readonly since: number;
}

/** All content, by file name, in order. */
export interface Contents {
  readonly files: ReadonlyMap<string, FileContent>;
  /** Problems of paths that are not files of the map. */
  readonly problems: readonly FileProblem[];
  /** By file name: texts that do not replace the content yet. Read the files again after `quietTime`. */
  readonly waiting: ReadonlyMap<string, Waiting>;
}

export const noContents: Contents = { files: new Map(), problems: [], waiting: new Map() };

/** Milliseconds for which a file that became shorter, and was not replaced, must stay the same. */
export const quietTime = 1_000;

/** Merges all content into one list. */
export function flatten(contents: Contents): FolderContent {
  const files = [...contents.files.values()];
  return {
    documents: files.flatMap(({ documents }) => documents),
    problems: [...contents.problems, ...files.flatMap(({ problems }) => problems)],
  };
}

/**
 * Reads files and, in folders, all YAML and JSON files below them, except hidden ones. Files that did not change since `known` are
 * not parsed again. A file that has more than `limit` bytes, or that cannot be read or has errors keeps its documents of `known`. So does
 * a file that became empty, or for a while shorter, unless it was replaced: programs that write a file in place truncate it first.
 */
export async function readContents(
  paths: readonly string[],
  known: Contents,
  onFolder: OnFolder,
  limit = largeFile,
): Promise<Contents> {
  const reading = new Reading(known, onFolder, limit);
  for await (const found of walk(paths, onFolder)) await reading.add(found);
  return reading;
}

class Reading implements Contents {
  readonly files = new Map<string, FileContent>();
  readonly problems: FileProblem[] = [];
  readonly waiting = new Map<string, Waiting>();
  private readonly known: Contents;
  private readonly onFolder: OnFolder;
  private readonly limit: number;

  constructor(known: Contents, onFolder: OnFolder, limit: number) {
    this.limit = limit;
    this.known = known;
    this.onFolder = onFolder;
  }

  async add(found: Found): Promise<void> {
    if (found.type === 'file') {
      await this.readFile(found.path);
      return;
    }
    const { path, message, isGone, isMissing } = found;
    this.problems.push({ file: path, severity: 'error', message, ...(isMissing && { isMissing }) });
    if (!isGone) this.keepBelow(path);
  }

  private async readFile(path: string): Promise<void> {
    const known = this.known.files.get(path);
    try {
      const real = await realpath(path);
      await this.onFolder(dirname(real), basename(real));
      const { ino: inode } = await stat(real);
      const text = decode(await readRegular(real, this.limit));
      this.files.set(path, { ...(await this.contentOf({ path, text, inode }, known)), inode });
    } catch (error) {
      if (isMissing(error)) return;
      const problem: FileProblem = {
        file: path,
        severity: 'error',
        message: `cannot read the file: ${reasonOf(error)}`,
      };
      this.files.set(path, { ...(known ?? noContent), text: unreadable, problems: [problem] });
    }
  }

  private async contentOf({ path, text, inode }: ReadText, known: FileContent | undefined): Promise<Parsed> {
    if (known === undefined || known.text === text) return known ?? parse(path, text, known);
    if (known.inode !== inode) return parse(path, text, known);
    if (text.length < known.length && this.mustWait(path, text)) return known;
    return text === '' && known.documents.length > 0 ? emptied(path, known) : parse(path, text, known);
  }

  private mustWait(path: string, text: string): boolean {
    const now = monotonicNow();
    const former = this.known.waiting.get(path);
    const since = former?.text === text ? former.since : now;
    if (now - since >= quietTime) return false;
    this.waiting.set(path, { text, since });
    return true;
  }

  /** Keeps the files below a path that is temporarily unreadable. The cause has been reported. */
  private keepBelow(path: string): void {
    for (const [file, content] of this.known.files) {
      const isBelow = file === path || resolve(file).startsWith(`${resolve(path)}${sep}`);
      if (isBelow && !this.files.has(file)) this.files.set(file, { ...content, problems: [], text: unreadable });
    }
  }
}

/** A text that was read, and of which file. */
interface ReadText {
  readonly path: string;
  readonly text: string;
  readonly inode: number;
}

type Parsed = Omit<FileContent, 'inode'>;

const noContent: FileContent = { text: '', length: 0, documents: [], problems: [], isWhole: false, inode: 0 };

/** No file has this text, so a file that becomes readable again is parsed again. */
const unreadable = '\uFFFF';

/** The data plane of this process serves requests meanwhile. */
async function parse(path: string, text: string, known: FileContent | undefined): Promise<Parsed> {
  const parsed = await inSlices(parseInSteps(text, path));
  const isWhole = parsed.problems.every(({ severity }) => severity === 'warning');
  if (isWhole || known?.isWhole !== true) return { ...parsed, text, length: text.length, isWhole };
  return { ...known, problems: parsed.problems, text };
}

/** A file without its objects is probably about to be written: nobody keeps an empty one. */
function emptied(file: string, known: FileContent): Parsed {
  const message = 'the file is empty, and its previous contents stay in effect; delete the file to remove them';
  return { ...known, problems: [{ file, severity: 'error', message }], text: '' };
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new Error('invalid encoding; save the file as UTF-8');
  }
}
