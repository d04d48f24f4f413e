import { Slices } from '../time/slices.ts';
import { readingSlice } from './chunks.ts';
import { ProtocolError } from './errors.ts';
import { longestResponse } from './limits.ts';

interface LineOptions {
  /** Characters of a line. */
  readonly limit?: number;
  readonly onHeld?: (characters: number) => void;
}

/** Characters after which the reader looks whether others must have a turn. */
const charactersBetweenChecks = 64 * 1024;

/**
 * Splits a UTF-8 stream into JSON values, one per line. Yields all values that a chunk completed, at least one. If reading them takes long,
 * it yields what it has, and gives others a turn.
 *
 * @param onHeld called with the characters of the unfinished line after each chunk
 * @throws ProtocolError if a line is not valid JSON or longer than `limit` characters, or if the stream ends within a line:
 * data would be lost silently otherwise
 */
export async function* readJsonLines(
  chunks: AsyncIterable<Uint8Array>,
  { limit = longestResponse, onHeld = () => undefined }: LineOptions = {},
): AsyncGenerator<readonly unknown[], void, void> {
  const decoder = new TextDecoder();
  // The parts of an unfinished line are joined once, at its end: a long line arrives in thousands of chunks.
  let parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    const slices = new Slices();
    const text = decoder.decode(chunk, { stream: true });
    let values: unknown[] = [];
    let begin = 0;
    let checked = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', begin)) {
      parts.push(text.slice(begin, end));
      const line = parts.join('');
      parts = [];
      length = 0;
      begin = end + 1;
      if (line.trim() !== '') values.push(parseLine(line, limit));
      if (begin - checked < charactersBetweenChecks || !readingSlice.isUsedUp(slices.used)) continue;
      checked = begin;
      if (values.length > 0) yield values;
      values = [];
      readingSlice.note(slices.used);
      await slices.next();
    }
    if (values.length > 0) yield values;
    const rest = text.slice(begin);
    parts.push(rest);
    length += rest.length;
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
