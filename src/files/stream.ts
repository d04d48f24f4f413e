import type { FileProblem, SourceDocument } from './document.ts';
import { isMissing, reasonOf } from './errors.ts';
import { parseChunk } from './parse.ts';
import { openRegular } from './read-file.ts';
import { DocumentSplitter, type Chunk } from './split.ts';
import { walk } from './walk.ts';

/** One result: an object or a problem. */
export type Item =
  | { readonly type: 'object'; readonly document: SourceDocument }
  | { readonly type: 'problem'; readonly problem: FileProblem };

/** The path that means standard input. */
export const standardInput = '-';
/** The file name of objects from standard input. */
export const standardInputName = 'stdin';

/** Maximum characters of one document. A List is one document. */
const longestDocument = 64 * 1024 * 1024;

/**
 * Reads the objects of standard input (`-`), files and folders (as `readFolder` does). Yields the items of each piece that was read
 * together, because each step of an asynchronous iteration costs as much as a rule. They are parsed one by one while they are iterated,
 * which must be done before the next step. Buffers one document and some kilobytes of the next, however long the stream is. Never rejects:
 * failures are among the items.
 *
 * @param input opens standard input
 */
export async function* streamObjects(
  paths: readonly string[],
  input: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Iterable<Item>> {
  for (const path of paths) {
    if (path === standardInput) yield* streamOf(input(), standardInputName);
  }
  for await (const found of walk(
    paths.filter((path) => path !== standardInput),
    () => {},
  )) {
    if (found.type === 'file') yield* streamOf(bytesOf(found.path), found.path);
    else yield [failed(found.path, found.message)];
  }
}

/** The bytes that a file has when it is opened: one that grows without end is not read without end. */
async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const { handle, size } = await openRegular(path);
  // Files of the kernel have the size 0.
  yield* handle.createReadStream(size === 0 ? {} : { end: size - 1 }) as AsyncIterable<Uint8Array>;
}

async function* streamOf(bytes: AsyncIterable<Uint8Array>, file: string): AsyncGenerator<Iterable<Item>> {
  const origin = { file, index: 0 };
  try {
    for await (const chunks of chunksOf(bytes)) yield itemsOf(chunks, origin);
  } catch (error) {
    // The file was deleted after its folder was listed.
    if (!isMissing(error)) yield [failed(file, `cannot read the file: ${reasonOf(error)}`)];
  }
}

/** Parses chunks. Adds the number of their objects to the index of `origin`. */
function* itemsOf(chunks: readonly Chunk[], origin: { readonly file: string; index: number }): Iterable<Item> {
  for (const chunk of chunks) {
    const { documents, problems } = parseChunk(chunk, origin);
    origin.index += documents.length;
    for (const problem of problems) yield { type: 'problem', problem };
    for (const document of documents) yield { type: 'object', document };
  }
}

async function* chunksOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly Chunk[]> {
  const splitter = new DocumentSplitter();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  for await (const piece of bytes) {
    yield splitter.push(decode(() => decoder.decode(piece, { stream: true })));
    if (splitter.pending > longestDocument)
      throw new Error(`a document has more than ${longestDocument} characters; split it with "---" lines`);
  }
  yield [...splitter.push(decode(() => decoder.decode())), ...splitter.end()];
}

function decode(attempt: () => string): string {
  try {
    return attempt();
  } catch {
    throw new Error('invalid encoding; save the file as UTF-8');
  }
}

function failed(file: string, message: string): Item {
  return { type: 'problem', problem: { file, severity: 'error', message } };
}
