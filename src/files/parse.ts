import { CORE_SCHEMA, constructFromEvents, EVENT_ID, mergeTag, parseEvents, YAMLException } from 'js-yaml';
import type { Path } from '../core/resources/path.ts';
import { quote, shorten } from '../core/text/display.ts';
import { isRecord } from '../core/text/record.ts';
import { runToEnd, type Steps } from '../core/text/steps.ts';
import { findAmbiguities } from './ambiguous.ts';
import type { FileProblem, Position, SourceDocument } from './document.ts';
import { findUnfit, isFiniteThroughout, longestScalar, maximumDepth, tooLong } from './fitness.ts';
import { Outline, rootNode } from './outline.ts';
import { splitDocuments } from './split.ts';
import type { Chunk } from './split.ts';

export interface ParsedFile {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly FileProblem[];
}

// kubectl supports merge keys too.
const schema = CORE_SCHEMA.withTags(mergeTag);

/**
 * Reads the objects of a YAML or JSON text: several documents, Lists item by item, without empty documents. An invalid document is
 * reported and does not affect the others. Never throws.
 */
export function parseDocuments(text: string, file: string): ParsedFile {
  return runToEnd(parseInSteps(text, file));
}

/** Like `parseDocuments`, in steps of a document each. */
export function* parseInSteps(text: string, file: string): Steps<ParsedFile> {
  const documents: SourceDocument[] = [];
  const problems: FileProblem[] = [];
  for (const chunk of splitDocuments(text)) {
    const parsed = parseChunk(chunk, { file, index: documents.length });
    // One call for all would exceed the stack.
    for (const document of parsed.documents) documents.push(document);
    for (const problem of parsed.problems) problems.push(problem);
    yield;
  }
  return { documents, problems };
}

/** The origin of a chunk. */
export interface Origin {
  readonly file: string;
  /** Number of objects in the file before the chunk. */
  readonly index: number;
}

const markersAlone: ReadonlySet<string> = new Set(['', '---', '...']);

/** Reads the objects of one chunk of a file. Never throws. */
export function parseChunk(written: Chunk, { file, index }: Origin): ParsedFile {
  const chunk = withoutMark(written);
  // A text can consist of nothing but markers, and starting the parser costs far more than this.
  if (markersAlone.has(chunk.text.trim())) return { documents: [], problems: [] };
  const outline = new Outline(chunk);
  const content = readContent(chunk, outline);
  const documents: SourceDocument[] = [];
  const problems: ChunkProblem[] = [...content.problems];
  for (const { value, node, path } of expandList(outline, { value: content.value, node: rootNode, path: [] })) {
    if (value === null || value === undefined) continue;
    const begin = outline.locate(node, path);
    if (!isRecord(value) && !isListOfOthers(value)) {
      problems.push(failure(begin, noObject(value)));
      continue;
    }
    const locate = (inner: Path) => outline.locate(node, [...path, ...inner]);
    documents.push({
      file,
      index: index + documents.length,
      value,
      line: begin.line,
      locate,
      textOf: (line) => outline.textOf(line),
    });
  }
  return {
    documents,
    problems: problems.map((problem) => ({ file, ...problem, text: outline.textOf(problem.position.line) })),
  };
}

interface ChunkProblem extends Omit<FileProblem, 'file' | 'text'> {
  readonly position: Position;
}

interface Content {
  readonly value?: unknown;
  readonly problems: readonly ChunkProblem[];
}

// Directives, markers, comments and empty lines precede the content of a document. One expression for all lines would exceed the stack.
const lineBeforeContent = /(?:%[^\n]*|---[ \t\r]*|[ \t]*#[^\n]*|[ \t\r]*)\n/y;

/**
 * Removes the byte order marks before the document marker and before the content. Editors write one at the start of a file, and it
 * remains when files are concatenated. kubectl ignores it.
 */
function withoutMark(chunk: Chunk): Chunk {
  if (!chunk.text.includes('\uFEFF')) return chunk;
  return { ...chunk, text: withoutFirstMark(withoutFirstMark(chunk.text)) };
}

function withoutFirstMark(text: string): string {
  let content = 0;
  lineBeforeContent.lastIndex = 0;
  while (lineBeforeContent.test(text)) content = lineBeforeContent.lastIndex;
  return text[content] === '\uFEFF' ? text.slice(0, content) + text.slice(content + 1) : text;
}

// Files that were concatenated without a line --- between them.
const markInContent = /\n\uFEFF/;

function readContent(chunk: Chunk, outline: Outline): Content {
  const mark = markInContent.exec(chunk.text);
  if (mark !== null) return { problems: [failure(outline.at(mark.index + 1), misplacedMark)] };
  const zero = chunk.text.indexOf('\0');
  if (zero !== -1) return { problems: [failure(outline.at(zero), zeroCharacter)] };
  try {
    const events = parseEvents(chunk.text, { maxDepth: maximumDepth });
    outline.fill(events);
    const long = events.find(
      (event) => event.type === EVENT_ID.SCALAR && event.valueEnd - event.valueStart > longestScalar,
    );
    if (long?.type === EVENT_ID.SCALAR) return { problems: [failure(outline.at(long.valueStart), tooLong)] };
    const [value] = constructFromEvents(events, { source: chunk.text, schema });
    const isFit = !events.some(({ type }) => type === EVENT_ID.ALIAS) && isFiniteThroughout(value);
    const unfit = isFit ? undefined : findUnfit(value);
    if (unfit !== undefined) return { problems: [failure(outline.locate(rootNode, unfit.path), unfit.message)] };
    const problems = findAmbiguities(chunk.text, events).map(({ offset, message }): ChunkProblem => ({
      severity: 'warning',
      position: outline.at(offset),
      message,
    }));
    return { value, problems };
  } catch (error) {
    return { problems: [explain(chunk, outline, error)] };
  }
}

const misplacedMark =
  'a byte order mark (U+FEFF) begins this line in the middle of a document. Remove it. If two files were joined here, write a line --- between them.';

// The parser's own error about it holds copies of the whole text.
const zeroCharacter =
  'a NUL character (U+0000) is not allowed in YAML or JSON. The file may be incomplete: remove the character, or write the file again';

function failure(position: Position, message: string): ChunkProblem {
  return { severity: 'error', position, message };
}

function explain(chunk: Chunk, outline: Outline, error: unknown): ChunkProblem {
  if (!(error instanceof YAMLException) || error.mark === undefined) {
    const detail = error instanceof Error ? error.message : 'the reason is unknown';
    return failure(outline.at(0), `invalid document: ${detail}`);
  }
  const { reason, mark } = error;
  if (reason === 'duplicated mapping key') return duplicateKey(chunk, outline, mark.position);
  return failure(outline.at(mark.position), clearer(reason, chunk));
}

const keyThere = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s:]+/y;

function duplicateKey({ text }: Chunk, outline: Outline, position: number): ChunkProblem {
  // The parser reports the position after the quote.
  const start = /["']/.test(text[position - 1] ?? '') ? position - 1 : position;
  keyThere.lastIndex = start;
  const key = keyThere.exec(text)?.[0] ?? '';
  const message = `duplicate key ${quote(key.replaceAll(/^["']|["']$/g, ''))} in one object; keep one of them`;
  return failure(outline.at(start), message);
}

/** Maximum characters of a message of the parser, which quotes tags and aliases of any length. */
const longestReason = 200;

/** Adds the fix if the parser's message does not tell it. */
function clearer(reason: string, { text }: Chunk): string {
  if (reason.startsWith('tab characters')) return 'the line is indented with a tab; use spaces, YAML forbids tabs here';
  if (reason.startsWith('nesting exceeded')) return `the document is nested deeper than ${maximumDepth} levels`;
  return `invalid YAML: ${shorten(reason, longestReason)}${text.includes('{{') ? '; if this is a template, render it first, e.g. helm template . | sallyport check -' : ''}`;
}

/** Other tools keep lists next to manifests, such as JSON patches. These are documents too. A list of objects is a mistake. */
function isListOfOthers(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => isRecord(item) && !Object.hasOwn(item, 'kind'));
}

function noObject(value: unknown): string {
  return `expected an object with apiVersion and kind, found ${Array.isArray(value) ? 'a list' : quote(value)}`;
}

/** A value and its position: a node of the outline, and a path below it if the value has no node of its own. */
interface Part {
  readonly value: unknown;
  readonly node: number;
  readonly path: Path;
}

/** Yields the items of `kind: List`, or of any `…List`, as if each were a document. Expands nested Lists. */
function* expandList(outline: Outline, list: Part): Iterable<Part> {
  const items = itemsOf(list.value);
  if (items === undefined) {
    yield list;
    return;
  }
  const sequence = list.path.length === 0 ? outline.member(list.node, 'items')?.node : undefined;
  const nodes = sequence === undefined ? [] : [...outline.items(sequence)];
  for (const [index, item] of items.entries()) {
    const value = asItem(item, list.value);
    const node = nodes[index];
    // Items from an alias or a merge key have their position elsewhere.
    const place = node === undefined ? { node: list.node, path: [...list.path, 'items', index] } : { node, path: [] };
    yield* expandList(outline, { value, ...place });
  }
}

/** Items of an `HTTPRouteList` may omit apiVersion and kind. */
function asItem(item: unknown, list: unknown): unknown {
  if (!isRecord(item) || !isRecord(list) || typeof list['kind'] !== 'string' || list['kind'] === 'List') return item;
  return { apiVersion: list['apiVersion'], kind: list['kind'].slice(0, -'List'.length), ...item };
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  if (!isRecord(value)) return undefined;
  const { kind, items } = value;
  return typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items) ? items : undefined;
}
