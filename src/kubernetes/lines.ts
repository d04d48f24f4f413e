import { ProtocolError } from './errors.ts';

/** Characters that one line may have: an object is at most 1.5 MiB in etcd, and escapes make it longer on the wire. */
const longestLine = 16 * 1024 * 1024;

/**
 * Cuts a stream of UTF-8 into JSON values, one a line; yields all that one chunk completed, at least one.
 *
 * @throws ProtocolError for a line that is no JSON or longer than `limit` characters, or where the stream ends within a line:
 * something would be lost unseen otherwise
 */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>, limit = longestLine): AsyncGenerator<readonly unknown[], void, void> {
  const decoder = new TextDecoder();
  // Parts of an unfinished line are joined once, when it ends: long lines come in thousands of chunks.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const [first = '', ...others] = decoder.decode(chunk, { stream: true }).split('\n');
    parts.push(first);
    length += first.length;
    const last = others.pop();
    if (last !== undefined) {
      const lines = [parts.join(''), ...others];
      parts = [last];
      length = last.length;
      const values = lines.filter((line) => line.trim() !== '').map((line) => parseLine(line, limit));
      if (values.length > 0) yield values;
    }
    if (length > limit) throw tooLong(limit);
  }
  if (parts.join('').trim() !== '') throw new ProtocolError('the stream ended in the middle of a line');
}

function parseLine(line: string, limit: number): unknown {
  if (line.length > limit) throw tooLong(limit);
  try {
    return JSON.parse(line);
  } catch {
    throw new ProtocolError('a line of the stream is not valid JSON');
  }
}

function tooLong(limit: number): ProtocolError {
  return new ProtocolError(`a line of the stream has more than ${limit} characters`);
}
