import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml';
import type { Event, ScalarEvent } from 'js-yaml';
import type { Path } from '../core/resources/path.ts';
import type { Position } from './document.ts';
import type { Chunk } from './split.ts';

/** The root node of the document. */
export const rootNode = 0;

/**
 * `text`: a plain scalar that equals its source; `quoted`: the same in quotes; `written`: a scalar with escapes or line breaks;
 * `opaque`: an alias or a block scalar, which is never a key.
 */
const nodeType = { text: 0, quoted: 1, written: 2, opaque: 3, sequence: 4, mapping: 5 } as const;

/** Each node has three numbers: type, start (`nowhere` if it is empty), and the end of a scalar or the node after a collection. */
const stride = 3;
const nowhere = -1;

/** The nodes of a chunk of ordinary size while it is read. An array for each chunk would be twice as large as its nodes. */
const filled = new Int32Array(stride * 4_096);

/**
 * Positions in a chunk. A node is identified by its index among all nodes of the chunk. The outline is made from the parser's events
 * because these need far more memory than the objects, and positions are requested long after parsing.
 */
export class Outline {
  private readonly chunk: Chunk;
  private nodes = new Int32Array(0);
  /** The offsets of line starts, computed on demand. */
  private readonly lines = [0];
  private hasAllLines = false;
  /** The values of keys with escapes that were compared. Few files have such keys. */
  private scalars: Map<number, string | undefined> | undefined;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** Records the nodes of the chunk's text. */
  fill(events: readonly Event[]): void {
    const room = stride * events.length;
    const nodes = room <= filled.length ? filled : new Int32Array(room);
    const open: number[] = [];
    let count = 0;
    for (const event of events) {
      if (event.type === EVENT_ID.POP) {
        const collection = open.pop();
        if (collection !== undefined) nodes[collection * stride + 2] = count;
      } else if (event.type !== EVENT_ID.DOCUMENT) {
        nodes[count * stride] = typeOf(event);
        nodes[count * stride + 1] = startOf(event);
        nodes[count * stride + 2] = endOf(event);
        if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) open.push(count);
        count += 1;
      }
    }
    // A copy.
    this.nodes = nodes.slice(0, count * stride);
  }

  /** The position of an offset in the chunk, whether or not that is well-formed. */
  at(offset: number): Position {
    this.findLines((last) => last > offset);
    let low = 0;
    let high = this.lines.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.lines[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: this.chunk.line + low, column: offset - (this.lines[low] ?? 0) + 1 };
  }

  /** The text of a line of the file, without its line end. '' if the chunk does not contain that line. */
  textOf(line: number): string {
    const index = line - this.chunk.line;
    this.findLines(() => this.lines.length > index + 1);
    return this.chunk.text.slice(this.lines[index] ?? Infinity, this.lines[index + 1]).replace(/\r?\n$/, '');
  }

  /** The position of a path below a node, or of its nearest existing ancestor. */
  locate(node: number, path: Path): Position {
    let place: SourceNode = { node, offset: this.startOf(node) };
    for (const part of path) {
      const child = typeof part === 'number' ? this.item(place.node, part) : this.member(place.node, part);
      if (child === undefined) break;
      // An empty item has no position of its own.
      place = { node: child.node, offset: child.offset ?? place.offset };
    }
    return this.at(place.offset ?? 0);
  }

  /** The nodes of a sequence; none for other nodes. */
  *items(sequence: number): Iterable<number> {
    if (this.typeOf(sequence) !== nodeType.sequence) return;
    const end = this.behind(sequence);
    for (let node = sequence + 1; node < end; node = this.behind(node)) yield node;
  }

  /** The value of a key in a mapping, with the offset of the key. */
  member(mapping: number, name: string): SourceNode | undefined {
    if (this.typeOf(mapping) !== nodeType.mapping) return undefined;
    const end = this.behind(mapping);
    for (let key = mapping + 1; key < end;) {
      const value = this.behind(key);
      if (this.isText(key, name)) return { node: value, offset: this.startOf(key) };
      key = this.behind(value);
    }
    return undefined;
  }

  private item(sequence: number, index: number): SourceNode | undefined {
    let position = 0;
    for (const node of this.items(sequence)) {
      if (position === index) return { node, offset: this.startOf(node) };
      position += 1;
    }
    return undefined;
  }

  /** Whether a node is a scalar of that value. */
  private isText(node: number, text: string): boolean {
    const type = this.typeOf(node);
    const start = this.nodes[node * stride + 1] ?? 0;
    const end = this.nodes[node * stride + 2] ?? 0;
    if (type === nodeType.written) return this.scalar(node, this.chunk.text.slice(start, end)) === text;
    const quotes = type === nodeType.quoted ? 1 : 0;
    const isScalar = type === nodeType.text || type === nodeType.quoted;
    return isScalar && end - start - 2 * quotes === text.length && this.chunk.text.startsWith(text, start + quotes);
  }

  /** Reads a scalar with escapes once: each position in a mapping of many such keys looks at all of them. */
  private scalar(node: number, source: string): string | undefined {
    this.scalars ??= new Map();
    if (!this.scalars.has(node)) this.scalars.set(node, readScalar(source));
    return this.scalars.get(node);
  }

  private typeOf(node: number): number | undefined {
    return this.nodes[node * stride];
  }

  /** The start offset of a node. An empty node has none. */
  private startOf(node: number): number | undefined {
    const start = this.nodes[node * stride + 1];
    return start === nowhere ? undefined : start;
  }

  /** The node after a node and all its descendants. */
  private behind(node: number): number {
    const isCollection = (this.typeOf(node) ?? 0) >= nodeType.sequence;
    return isCollection ? (this.nodes[node * stride + 2] ?? 0) : node + 1;
  }

  /** Finds further line starts, until the end of the text or until `isEnough` accepts the last one. */
  private findLines(isEnough: (last: number) => boolean): void {
    const { text } = this.chunk;
    let last = this.lines.at(-1) ?? 0;
    while (!this.hasAllLines && !isEnough(last)) {
      const end = text.indexOf('\n', last);
      if (end === -1) {
        // A file of one line may have as many positions as characters, and must not be searched for each.
        this.hasAllLines = true;
        return;
      }
      last = end + 1;
      this.lines.push(last);
    }
  }
}

interface SourceNode {
  readonly node: number;
  readonly offset: number | undefined;
}

type NodeEvent = Exclude<Event, { readonly type: typeof EVENT_ID.POP | typeof EVENT_ID.DOCUMENT }>;

function typeOf(event: NodeEvent): number {
  if (event.type === EVENT_ID.SEQUENCE) return nodeType.sequence;
  if (event.type === EVENT_ID.MAPPING) return nodeType.mapping;
  if (event.type === EVENT_ID.ALIAS) return nodeType.opaque;
  if (event.valueStart === nowhere) return nodeType.text;
  if (isQuoted(event)) return event.fast ? nodeType.quoted : nodeType.written;
  if (event.style !== SCALAR_STYLE.PLAIN) return nodeType.opaque;
  return event.fast ? nodeType.text : nodeType.written;
}

function startOf(event: NodeEvent): number {
  if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  return isQuoted(event) ? event.valueStart - 1 : event.valueStart;
}

/** The end of a scalar. The end of a collection is not known yet. */
function endOf(event: NodeEvent): number {
  if (event.type !== EVENT_ID.SCALAR) return nowhere;
  return isQuoted(event) ? event.valueEnd + 1 : event.valueEnd;
}

function isQuoted({ style }: ScalarEvent): boolean {
  return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED;
}

/** The value of a scalar that stands alone. `undefined` if the source has another meaning there. */
function readScalar(source: string): string | undefined {
  // At the start of a line it could be a document marker.
  const item = `- ${source}`;
  try {
    const scalar = parseEvents(item, {}).find((event) => event.type === EVENT_ID.SCALAR);
    return scalar === undefined ? undefined : getScalarValue(item, scalar);
  } catch {
    return undefined;
  }
}
