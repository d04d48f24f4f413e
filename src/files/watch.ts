import { setTimeout as delay } from 'node:timers/promises';
import { flatten, noContents, quietTime, readContents } from './contents.ts';
import type { Contents, FolderContent } from './contents.ts';
import { differenceOf } from './difference.ts';
import type { Difference } from './difference.ts';
import { formatProblem } from './document.ts';
import { monotonicNow } from '../time/clock.ts';
import { inSlices } from '../time/slices.ts';
import type { OnFolder } from './walk.ts';
import { WatchedFolders } from './watched-folders.ts';

/** A change of the watched files, together with their current content. */
export interface FolderChange extends FolderContent, Difference {}

export type OnChange = (change: FolderChange) => void | Promise<void>;

export interface FolderWatch {
  /** The content as last read. */
  readonly content: FolderContent;
  /** Stops the watch. `onChange` is not called again. */
  close(): void;
}

/**
 * Reads files and folders as `readFolder` does and watches them. `onChange` is called when documents or problems have changed, one
 * call after the other. It must not throw. A file that becomes unreadable or invalid keeps its last good documents and reports its
 * problem, so that a typo does not take down traffic. So does one that is made empty in place. One that is made shorter in place keeps
 * them until it stays the same for `quietTime`, because it may be half written. Deleting a file deletes its documents.
 *
 * @param limit the largest size of a file in bytes; default: 64 MiB
 */
export async function watchFolder(paths: readonly string[], onChange: OnChange, limit?: number): Promise<FolderWatch> {
  const watching = new Watching(paths, onChange, limit);
  await watching.start();
  return watching;
}

/** Milliseconds without an event before a read, because editors save in several steps. */
const settleTime = 100;
/** Maximum milliseconds before a read, even if events continue. */
const longestWait = 2_000;

class Watching implements FolderWatch {
  content: FolderContent = { documents: [], problems: [] };
  private readonly paths: readonly string[];
  private readonly onChange: OnChange;
  private readonly limit: number | undefined;
  private readonly folders = new WatchedFolders(() => this.touch());
  private contents: Contents = noContents;
  private isBusy = false;
  private isOutdated = false;
  private isClosed = false;
  private nextRead: NodeJS.Timeout | undefined;

  constructor(paths: readonly string[], onChange: OnChange, limit: number | undefined) {
    this.limit = limit;
    this.paths = paths;
    this.onChange = onChange;
  }

  async start(): Promise<void> {
    this.isBusy = true;
    this.accept(await this.read());
    this.rest();
  }

  close(): void {
    this.isClosed = true;
    clearTimeout(this.nextRead);
    this.folders.close();
  }

  private touch(): void {
    this.isOutdated = true;
    if (!this.isBusy && !this.isClosed) void this.update();
  }

  private rest(): void {
    this.isBusy = false;
    if (this.isOutdated) this.touch();
  }

  private async update(): Promise<void> {
    this.isBusy = true;
    const before = this.content;
    this.accept(await this.readSettled());
    const difference = await inSlices(differenceOf(before.documents, this.content.documents));
    const change = { ...this.content, ...difference };
    if (!this.isClosed && isNews(change, before)) await this.onChange(change);
    this.rest();
  }

  private accept(contents: Contents): void {
    this.contents = contents;
    const { documents, problems } = flatten(contents);
    this.content = { documents, problems: [...problems, ...this.folders.problems] };
    clearTimeout(this.nextRead);
    if (contents.waiting.size > 0 && !this.isClosed) this.nextRead = setTimeout(() => this.touch(), quietTime);
  }

  /** A read during further events is discarded, even as the last good state: the file may be half written. */
  private async readSettled(): Promise<Contents> {
    const latest = monotonicNow() + longestWait;
    const isUnsettled = () => this.isOutdated && !this.isClosed && monotonicNow() < latest;
    let contents: Contents;
    do {
      do {
        this.isOutdated = false;
        await delay(settleTime);
      } while (isUnsettled());
      contents = await this.read();
    } while (isUnsettled());
    return contents;
  }

  private async read(): Promise<Contents> {
    if (this.isClosed) return this.contents;
    this.isOutdated = false;
    this.folders.begin();
    const onFolder: OnFolder = (folder, name) => this.folders.add(folder, name);
    const contents = await readContents(this.paths, this.contents, onFolder, this.limit);
    this.folders.end();
    if (this.isClosed) this.folders.close();
    return contents;
  }
}

function isNews(change: FolderChange, before: FolderContent): boolean {
  const { added, changed, removed, problems } = change;
  if (added.length + changed.length + removed.length > 0) return true;
  return problems.map(formatProblem).join('\n') !== before.problems.map(formatProblem).join('\n');
}
