import { EVENT_ID, getScalarValue, parseEvents, SCALAR_STYLE } from 'js-yaml';
import type { Event } from 'js-yaml';
import type { Path } from '../core/resources/path.ts';
import type { Position } from './document.ts';
import { maximumDepth } from './fitness.ts';
import type { Chunk } from './split.ts';

/** The events of a chunk; a node of it goes by the index of the event that begins it. */
export interface Syntax {
  readonly events: Event[];
  /** The offset at which each line begins. */
  readonly lines: readonly number[];
}

/** The node that is the whole document: the event before it opens the document. */
export const rootNode = 1;

/**
 * Where things stand in a chunk. Positions are asked for only where something is wrong, and the events take far more
 * memory than the objects: they may be collected and are parsed again when needed.
 */
export class Outline {
  private readonly chunk: Chunk;
  private syntax: WeakRef<Syntax> | undefined;

  constructor(chunk: Chunk) {
    this.chunk = chunk;
  }

  /** @throws YAMLException where the text is no YAML. */
  parse(): Syntax {
    const known = this.syntax?.deref();
    if (known !== undefined) return known;
    const { text } = this.chunk;
    const syntax = { events: parseEvents(text, { maxDepth: maximumDepth }), lines: lineStarts(text) };
    this.syntax = new WeakRef(syntax);
    return syntax;
  }

  /** The position of an offset into the chunk, well-formed or not. */
  at(offset: number): Position {
    return position(this.lineStarts(), offset, this.chunk.line);
  }

  /** The text of a line of the file, without its end; '' where the chunk does not have that line. */
  textOf(line: number): string {
    const starts = this.lineStarts();
    const index = line - this.chunk.line;
    return this.chunk.text.slice(starts[index] ?? Infinity, starts[index + 1]).replace(/\r?\n$/, '');
  }

  private lineStarts(): readonly number[] {
    return this.syntax?.deref()?.lines ?? lineStarts(this.chunk.text);
  }

  /** The position of a path below a node, or of its nearest ancestor that exists. */
  locate(node: number, path: Path): Position {
    const { events, lines } = this.parse();
    let place: Place = { node, offset: startOf(events[node]) };
    for (const part of path) {
      const child = typeof part === 'number' ? this.item(place.node, part) : this.member(place.node, part);
      if (child === undefined) break;
      // An empty item has no place of its own.
      place = { node: child.node, offset: child.offset ?? place.offset };
    }
    return position(lines, place.offset ?? 0, this.chunk.line);
  }

  /** The nodes of a sequence; none for other nodes. */
  *items(sequence: number): Iterable<number> {
    const { events } = this.parse();
    if (events[sequence]?.type !== EVENT_ID.SEQUENCE) return;
    for (let node = sequence + 1; isNode(events[node]); node = behind(events, node)) yield node;
  }

  /** The value under a key of a mapping, with the offset of the key. */
  member(mapping: number, name: string): Place | undefined {
    const { events } = this.parse();
    if (events[mapping]?.type !== EVENT_ID.MAPPING) return undefined;
    for (let node = mapping + 1; isNode(events[node]); ) {
      const key = events[node];
      const value = behind(events, node);
      if (key?.type === EVENT_ID.SCALAR && getScalarValue(this.chunk.text, key) === name) {
        return { node: value, offset: startOf(key) };
      }
      node = behind(events, value);
    }
    return undefined;
  }

  private item(sequence: number, index: number): Place | undefined {
    const { events } = this.parse();
    let position = 0;
    for (const node of this.items(sequence)) {
      if (position === index) return { node, offset: startOf(events[node]) };
      position += 1;
    }
    return undefined;
  }
}

interface Place {
  readonly node: number;
  readonly offset: number | undefined;
}

function isNode(event: Event | undefined): boolean {
  return event !== undefined && event.type !== EVENT_ID.POP;
}

/** The index behind everything that belongs to a node. */
function behind(events: readonly Event[], node: number): number {
  let open = 0;
  for (let index = node; index < events.length; index++) {
    const type = events[index]?.type;
    if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) open += 1;
    else if (type === EVENT_ID.POP) open -= 1;
    if (open <= 0) return index + 1;
  }
  return events.length;
}

/** The offset at which a node begins; an empty one has none. */
function startOf(event: Event | undefined): number | undefined {
  if (event === undefined) return undefined;
  if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start;
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1;
  if (event.type !== EVENT_ID.SCALAR || event.valueStart === -1) return undefined;
  const isQuoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED;
  return isQuoted ? event.valueStart - 1 : event.valueStart;
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function position(lines: readonly number[], offset: number, firstLine: number): Position {
  let low = 0;
  let high = lines.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lines[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: firstLine + low, column: offset - (lines[low] ?? 0) + 1 };
}
