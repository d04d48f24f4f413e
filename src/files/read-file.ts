import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** A regular file and the size that it had when it was opened. */
export interface OpenFile {
  readonly handle: FileHandle;
  /** Bytes. */
  readonly size: number;
}

/**
 * Opens a regular file. A path can become a pipe or a device after it was examined. Opening a pipe would then wait for a writer,
 * possibly forever, so it is opened without waiting and refused.
 *
 * @throws an error of `node:fs`, or one that says that the path is not a regular file
 */
export async function openRegular(path: string): Promise<OpenFile> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = await handle.stat();
    if (info.isDirectory()) throw new Error('a folder instead of a file; name a file in it');
    if (!info.isFile()) throw new Error(notRegular);
    return { handle, size: info.size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export const notRegular = 'not a regular file; replace it with a regular file, or remove it';

/**
 * Reads a regular file of at most `limit` bytes. A file that grows is not read further than that.
 *
 * @throws like `openRegular`, and for a longer file
 */
export async function readRegular(path: string, limit: number): Promise<Uint8Array> {
  const { handle, size } = await openRegular(path);
  try {
    if (size > limit) throw tooLarge(size, limit);
    const pieces: Uint8Array[] = [];
    let length = 0;
    for (;;) {
      // One byte more than the file had, so that one read usually reaches its end.
      const piece = Buffer.allocUnsafeSlow(Math.max(size - length, smallestPiece) + 1);
      const { bytesRead } = await handle.read(piece, 0, piece.length);
      if (bytesRead === 0) return Buffer.concat(pieces, length);
      length += bytesRead;
      if (length > limit) throw tooLarge(length, limit);
      pieces.push(piece.subarray(0, bytesRead));
    }
  } finally {
    await handle.close();
  }
}

/** Bytes of a file with settings, a certificate, a key or a token, all of which are much smaller. A ConfigMap or Secret has at most as many. */
export const smallFile = 1_024 * 1_024;

/** Bytes of a file with objects, and of one that a user names once: a baseline, a report or a kubeconfig. */
export const largeFile = 64 * 1_024 * 1_024;

/**
 * Reads a regular file of at most `smallFile` bytes as UTF-8.
 *
 * @throws like `readRegular`, with the path
 */
export async function readSmallText(path: string): Promise<string> {
  return withPath(path, readText(path, smallFile));
}

/**
 * Reads a regular file of at most `limit` bytes as UTF-8.
 *
 * @throws like `readRegular`
 */
export async function readText(path: string, limit: number): Promise<string> {
  return Buffer.from(await readRegular(path, limit)).toString('utf8');
}

/**
 * Checks that a path is a regular file of at most `limit` bytes, for readers of a library.
 *
 * @throws like `readRegular`, with the path
 */
export async function requireRegular(path: string, limit: number): Promise<void> {
  const { handle, size } = await withPath(path, openRegular(path));
  await handle.close();
  if (size > limit) throw new Error(`${path}: ${tooLarge(size, limit).message}`);
}

async function withPath<T>(path: string, attempt: Promise<T>): Promise<T> {
  try {
    return await attempt;
  } catch (error) {
    // Errors of node:fs name the path.
    if (!(error instanceof Error) || 'code' in error) throw error;
    throw new Error(`${path}: ${error.message}`, { cause: error });
  }
}

const smallestPiece = 4_096;

function tooLarge(size: number, limit: number): Error {
  return new Error(`the file has ${size} bytes, more than the limit of ${limit}; use smaller files`);
}
