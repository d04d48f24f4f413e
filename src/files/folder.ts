import { flatten, noContents, readContents } from './contents.ts';
import type { FolderContent } from './contents.ts';

export type { FolderContent } from './contents.ts';

/**
 * Reads the objects of files and folders (recursively: .yaml, .yml, .json; hidden entries are skipped). A file that is given twice is
 * read once. A file of more than `limit` bytes is a problem (default: 64 MiB). Never rejects: failures are among the problems.
 */
export async function readFolder(paths: readonly string[], limit?: number): Promise<FolderContent> {
  return flatten(await readContents(paths, noContents, () => {}, limit));
}
