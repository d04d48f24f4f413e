/** A part of a file that can be parsed by itself. */
export interface Chunk {
  readonly text: string;
  /** The line of the stream on which it begins, from 1. */
  readonly line: number;
}

// Neither marker can be part of content: YAML 1.2.2, section 9.1.2. A byte order mark may precede a document (5.2).
const marker = /(?:^|\n)\uFEFF?(?:(?<start>---)|\.\.\.)(?=[ \t\r\n]|$)/g;

/**
 * Cuts a YAML text before every `---` and behind every `...`, so that a broken document cannot spoil its neighbours.
 * What precedes the first marker is a chunk too; chunks may be empty.
 */
export function splitDocuments(text: string): readonly Chunk[] {
  const splitter = new DocumentSplitter();
  return [...splitter.push(text), ...splitter.end()];
}

/** Cuts a stream that comes piece by piece. Holds no more of it than the chunk under way. */
export class DocumentSplitter {
  /** Whole lines of the chunk under way. */
  private lines: string[] = [];
  /** Pieces of a line whose end has not come. */
  private rest: string[] = [];
  private line = 1;
  private size = 0;

  /** How many characters are held back, because their chunk has not ended. */
  get pending(): number {
    return this.size;
  }

  /** The chunks that the next piece completes. */
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

  /** The chunks that the end of the stream completes. */
  end(): readonly Chunk[] {
    const chunks = this.cut(this.rest.join(''));
    return [...chunks, { text: this.lines.join(''), line: this.line }];
  }

  /** Markers stand at the beginning of a line, so whole lines are all that need be looked at. */
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

/** `%YAML 1.2` and its like stand before the `---` of the document they are about. */
function hasOnlyDirectives(chunk: string): boolean {
  if (!/(?:^|\n)\uFEFF?%/.test(chunk)) return false;
  return chunk.split('\n').every((line) => /^\uFEFF?%|^\s*(?:#|$)/.test(line));
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
