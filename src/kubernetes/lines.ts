import { ProtocolError } from './errors.ts';
import { longestText } from './limits.ts';

interface LineOptions {
  /** Characters of a line. */
  readonly limit?: number;
  readonly onHeld?: (characters: number) => void;
}

/**
 * Splits a UTF-8 stream into JSON values, one per line. Yields all values that a chunk completed, at least one.
 *
 * @param onHeld called with the characters of the unfinished line after each chunk
 * @throws ProtocolError if a line is not valid JSON or longer than `limit` characters, or if the stream ends within a line:
 * data would be lost silently otherwise
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { limit = longestText, onHeld = () => undefined }: LineOptions = {},
): AsyncGenerator<readonly unknown[], void, void> {
  const decoder = new TextDecoder();
  // The parts of an unfinished line are joined once, at its end: a long line arrives in thousands of chunks.
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
    onHeld(length);
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
