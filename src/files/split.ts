/** A part of a file that can be parsed by itself. */
export interface Chunk {
  readonly text: string;
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
}

// Neither marker can be part of content: YAML 1.2.2, section 9.1.2.
const marker = /(?:^|\n)(?:(?<start>---)|\.\.\.)(?=[ \t\r\n]|$)/g;

/**
 * Cuts a YAML stream before every `---` and behind every `...`, so that a broken document cannot spoil its
 * neighbours. What precedes the first marker is a chunk too; chunks may be empty.
 */
export function splitDocuments(text: string): Chunk[] {
  const chunks: Chunk[] = [];
  let from = 0;
  let line = 1;
  for (const found of text.matchAll(marker)) {
    const atMarker = found.index + (found[0].startsWith('\n') ? 1 : 0);
    const to = found.groups?.['start'] === undefined ? endOfLine(text, atMarker) : atMarker;
    const chunk = text.slice(from, to);
    if (hasOnlyDirectives(chunk)) continue;
    chunks.push({ text: chunk, line });
    line += countLines(chunk);
    from = to;
  }
  chunks.push({ text: text.slice(from), line });
  return chunks;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

/** `%YAML 1.2` and its like stand before the `---` of the document they are about. */
function hasOnlyDirectives(chunk: string): boolean {
  if (!/(?:^|\n)%/.test(chunk)) return false;
  return chunk.split('\n').every((line) => /^%|^\s*(?:#|$)/.test(line));
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
