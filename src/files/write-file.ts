import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { notRegular } from './read-file.ts';

/**
 * Writes a regular file, instead of its former contents. A pipe would wait for a reader, possibly forever, so it is opened without waiting
 * and refused.
 *
 * @throws an error of `node:fs`, or one that says that the path is not a regular file
 */
export async function writeRegular(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK } = constants;
  const handle = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(notRegular);
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
