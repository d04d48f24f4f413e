import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { FileProblem } from './document.ts';

interface Watched {
  /** Distinguishes a folder from another one of the same name. */
  readonly identity: string;
  readonly watcher: FSWatcher;
}

/**
 * The watched folders. Each has its own watcher, which starts before the folder is read, so that no change is missed in between:
 * recursive watchers do not follow symbolic links, and lose a folder that is replaced.
 */
export class WatchedFolders {
  /** Folders that cannot be watched. */
  problems: FileProblem[] = [];
  private readonly onEvent: () => void;
  private readonly watched = new Map<string, Watched>();
  /** Folder → relevant names, `undefined` for all. */
  private interests = new Map<string, Set<string> | undefined>();

  constructor(onEvent: () => void) {
    this.onEvent = onEvent;
  }

  /** Starts a new round of `add`. */
  begin(): void {
    this.interests = new Map();
    this.problems = [];
  }

  /** Watches a folder, or only one name in it. If the folder does not exist, waits for it. */
  async add(folder: string, name?: string): Promise<void> {
    const interest = this.interests.has(folder) ? this.interests.get(folder) : new Set<string>();
    if (name !== undefined) interest?.add(name);
    this.interests.set(folder, name === undefined ? undefined : interest);
    const identity = await identityOf(folder);
    const known = this.watched.get(folder);
    if (identity === undefined) {
      this.drop(folder);
      if (dirname(folder) !== folder) await this.add(dirname(folder), basename(folder));
    } else if (known?.identity !== identity) {
      this.drop(folder);
      this.watch(folder, identity);
    }
  }

  /** Ends a round: stops watching folders that were not added in it. */
  end(): void {
    for (const folder of this.watched.keys()) if (!this.interests.has(folder)) this.drop(folder);
  }

  close(): void {
    for (const folder of this.watched.keys()) this.drop(folder);
  }

  private watch(folder: string, identity: string): void {
    try {
      const watcher = watch(folder, (_event, name) => {
        // An event with the folder's own name is about the folder itself: it was moved or deleted.
        if (name === null || name === basename(folder) || this.matters(folder, name)) this.onEvent();
      });
      watcher.on('error', () => {
        this.drop(folder);
        this.onEvent();
      });
      this.watched.set(folder, { identity, watcher });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const message = `cannot watch this folder, changes are not detected: ${reason}`;
      this.problems.push({ file: folder, severity: 'warning', message });
    }
  }

  private matters(folder: string, name: string): boolean {
    return this.interests.get(folder)?.has(name) ?? true;
  }

  private drop(folder: string): void {
    this.watched.get(folder)?.watcher.close();
    this.watched.delete(folder);
  }
}

async function identityOf(folder: string): Promise<string | undefined> {
  try {
    const { dev, ino } = await stat(folder, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}
