/** A part of a file that can be parsed separately. */
export interface Chunk {
  readonly text: string;
  /** The line of the stream at which it starts, from 1. */
  readonly line: number;
}

// Neither marker can occur in content: YAML 1.2.2, section 9.1.2. A byte order mark may precede a document (5.2).
const marker = /(?:^|\n)\uFEFF?(?:(?<start>---)|\.\.\.)(?=[ \t\r\n]|$)/g;

/**
 * Splits a YAML text before every `---` and after every `...`, so that an invalid document does not affect its neighbors. The text
 * before the first marker is a chunk too. Chunks may be empty.
 */
export function splitDocuments(text: string): readonly Chunk[] {
  const splitter = new DocumentSplitter();
  return [...splitter.push(text), ...splitter.end()];
}

/** Splits a stream incrementally. Buffers only the current chunk. */
export class DocumentSplitter {
  /** Complete lines of the current chunk. */
  private lines: string[] = [];
  /** Pieces of an incomplete line. */
  private rest: string[] = [];
  private line = 1;
  private size = 0;

  /** Number of buffered characters, whose chunk has not ended. */
  get pending(): number {
    return this.size;
  }

  /** Adds a piece. Returns the chunks that it completes. */
  push(piece: string): readonly Chunk[] {
    this.size += piece.length;
    const end = piece.lastIndexOf('\n') + 1;
    if (end === 0) {
      this.rest.push(piece);
      return [];
    }
    const lines = this.rest.join('') + piece.slice(0, end);
    this.rest = [piece.slice(end)];
    return this.cut(lines);
  }

  /** Ends the stream. Returns the remaining chunks. */
  end(): readonly Chunk[] {
    const chunks = this.cut(this.rest.join(''));
    return [...chunks, { text: this.lines.join(''), line: this.line }];
  }

  /** Markers stand at the start of a line, so only complete lines are searched. */
  private cut(lines: string): readonly Chunk[] {
    const chunks: Chunk[] = [];
    let from = 0;
    for (const found of lines.matchAll(marker)) {
      const atMarker = found.index + (found[0].startsWith('\n') ? 1 : 0);
      const to = found.groups?.['start'] === undefined ? endOfLine(lines, atMarker) : atMarker;
      const text = this.lines.join('') + lines.slice(from, to);
      if (hasOnlyDirectives(text)) continue;
      chunks.push({ text, line: this.line });
      this.line += countLines(text);
      this.size -= text.length;
      this.lines = [];
      from = to;
    }
    this.lines.push(lines.slice(from));
    return chunks;
  }
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end + 1;
}

/** Directives such as `%YAML 1.2` stand before the `---` of their document. */
function hasOnlyDirectives(chunk: string): boolean {
  if (!/(?:^|\n)\uFEFF?%/.test(chunk)) return false;
  return chunk.split('\n').every((line) => /^\uFEFF?%|^\s*(?:#|$)/.test(line));
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
