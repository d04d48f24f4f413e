import { allVariants } from './availability.ts';
import { maxItemsOf, maxLengthOf } from './limits.ts';
import type { ListNode, MapNode, Node, ObjectNode } from './node.ts';
import { describeJson, isPresent, isRecord, type FieldPath, type Json } from './json-values.ts';
import type { View } from './view.ts';

/**
 * A value that was left out of the view, because its JSON type differs from that in all bundles or because it exceeds the
 * limit of all bundles.
 */
export interface FieldProblem {
  readonly path: FieldPath;
  /** With article: `a string`, `a list`. */
  readonly expected: string;
  readonly found: string;
}

export interface ReadView<N> {
  readonly view: View<N>;
  readonly unreadable: readonly FieldProblem[];
}

/**
 * Replaces a list item or map value that should be a string but is not, so that its neighbors keep their positions. No field
 * allows this value, so it never matches.
 */
export const unreadableString = '\u0000';
/** The replacement for integers: not a valid port, weight or status code. */
export const unreadableInteger = -1;

/**
 * Maximum number of problems. At the limit, reading stops with a problem for the whole object, so that no part of it counts
 * as readable.
 */
const maximumUnreadable = 256;
const tooMany: FieldProblem = {
  path: [],
  expected: `fewer than ${maximumUnreadable} unreadable fields`,
  found: 'more',
};

/**
 * Reads a JSON value as described by a table node, for all bundles. Never throws.
 *
 * - Values with the right JSON type are kept. Unknown properties are left out. Null counts as absent.
 * - Values with the wrong JSON type are left out, and `unreadable` lists their paths. Items of lists keep their positions:
 *   an unreadable object becomes `{}`, a list `[]`, a scalar `unreadableString` or `unreadableInteger`.
 * - A list, map or string that exceeds the limit of every bundle is left out in the same way, and costs nothing.
 * - Reading is no deeper than the table, so deep nesting costs nothing.
 *
 * A view alone cannot distinguish "absent" from "unreadable": code that applies a default to an absent value must check
 * `unreadable` first and fail closed.
 */
export function readView<N extends Node>(node: N, json: unknown): ReadView<N> {
  return readWithin(node, json, limitsOfBundles);
}

/**
 * Like `readView`, for values that `settle` has truncated: one item more than the limit remains, so that validation detects
 * the excess. Strings that exceed the limit of every bundle are truncated here.
 */
export function readSettled<N extends Node>(node: N, json: unknown): ReadView<N> {
  return readWithin(node, json, limitsOfSettled);
}

/** What is read of values that exceed the limit of every bundle. */
interface Limits {
  /** Maximum number of items to read. */
  readonly maxItems: (node: ListNode | MapNode) => number;
  /** Reads a string with more than `maxLength` characters. */
  readonly readBeyond: (text: string, maxLength: number, cursor: Cursor) => unknown;
}

const limitsOfBundles: Limits = { maxItems: maxItemsOf, readBeyond: leaveOutText };
const limitsOfSettled: Limits = { maxItems: () => Number.POSITIVE_INFINITY, readBeyond: truncate };

function readWithin<N extends Node>(node: N, json: unknown, limits: Limits): ReadView<N> {
  const unreadable: FieldProblem[] = [];
  const value = read([node], json, { path: [], unreadable, ...limits });
  return { view: (value === absent ? nodeTypes[node.type].placeholder : value) as View<N>, unreadable };
}

interface Cursor extends Limits {
  /** The current path: one mutable list, since almost all values are readable. */
  readonly path: (string | number)[];
  readonly unreadable: FieldProblem[];
}

const absent = Symbol('absent');

function read(nodes: readonly Node[], json: unknown, cursor: Cursor): unknown {
  if (cursor.unreadable.length >= maximumUnreadable) return absent;
  const node = firstThatHolds(nodes, json);
  if (node === undefined) {
    const expected = [...new Set(nodes.map((candidate) => nodeTypes[candidate.type].name))].join(' or ');
    return leaveOut({ path: [...cursor.path], expected, found: describeJson(json) }, cursor);
  }
  if (node.type === 'object') return readObject(node, json as Json, cursor);
  if (node.type === 'map') return readMap(node, json as Json, cursor);
  if (node.type === 'list')
    return readList(nodes.length === 1 ? [node] : nodes.filter(isList), json as readonly unknown[], cursor);
  return typeof json === 'string' && json.length > shortText ? readLongText(nodes, json, cursor) : json;
}

/** UTF-16 code units of texts whose limit is not looked up, as most texts are shorter. */
const shortText = 1_024;
const unitsOfCharacter = 2;

/** Rules go over a text several times, which takes 0.1 to 0.3 s for one of 3 MB. Its characters are not counted, as that takes time, too. */
function readLongText(nodes: readonly Node[], text: string, cursor: Cursor): unknown {
  const maxLength = Math.max(
    ...nodes.map((node) => (node.type === 'string' ? maxLengthOf(node) : Number.POSITIVE_INFINITY)),
  );
  return text.length <= unitsOfCharacter * maxLength ? text : cursor.readBeyond(text, maxLength, cursor);
}

function leaveOutText(text: string, maxLength: number, cursor: Cursor): typeof absent {
  const expected = `a string of at most ${maxLength} characters`;
  return leaveOut({ path: [...cursor.path], expected, found: `a string of ${text.length}` }, cursor);
}

/** The start of a string, which is still too long. */
function truncate(text: string, maxLength: number): string {
  return text.slice(0, unitsOfCharacter * maxLength + 1);
}

function leaveOut(problem: FieldProblem, cursor: Cursor): typeof absent {
  cursor.unreadable.push(problem);
  if (cursor.unreadable.length === maximumUnreadable - 1) cursor.unreadable.push(tooMany);
  return absent;
}

// A plain loop for speed: this runs for every value of every object.
function firstThatHolds(nodes: readonly Node[], json: unknown): Node | undefined {
  for (const node of nodes) if (nodeTypes[node.type].holds(json)) return node;
  return undefined;
}

function isList(node: Node): node is ListNode {
  return node.type === 'list';
}

function readObject(node: ObjectNode, json: Json, cursor: Cursor): unknown {
  const view: Record<string, unknown> = {};
  for (const [name, variants] of variantsOf(node)) {
    if (!Object.hasOwn(json, name) || !isPresent(json[name])) continue;
    cursor.path.push(name);
    const value = read(variants, json[name], cursor);
    cursor.path.pop();
    if (value !== absent) view[name] = value;
  }
  return view;
}

// Tables never change, and every object needs the same variants.
const knownVariants = new WeakMap<ObjectNode, readonly (readonly [string, readonly Node[]])[]>();

function variantsOf(node: ObjectNode): readonly (readonly [string, readonly Node[]])[] {
  let variants = knownVariants.get(node);
  if (variants === undefined) {
    variants = Object.entries(node.fields).map(([name, field]) => [name, allVariants(field)]);
    knownVariants.set(node, variants);
  }
  return variants;
}

function readMap(node: MapNode, json: Json, cursor: Cursor): unknown {
  const keys = Object.keys(json).filter((key) => isPresent(json[key]));
  const maxItems = cursor.maxItems(node);
  if (keys.length > maxItems)
    return leaveOut(
      {
        path: [...cursor.path],
        expected: `an object with at most ${maxItems} entries`,
        found: `an object with ${keys.length}`,
      },
      cursor,
    );
  // Object.fromEntries defines own properties, including `__proto__`, and so never modifies a prototype.
  return Object.fromEntries(keys.map((key) => [key, readItem([node.values], key, { value: json[key], cursor })]));
}

/** If the item type differs between bundles, each of the types is accepted. */
function readList(nodes: readonly ListNode[], json: readonly unknown[], cursor: Cursor): unknown {
  const maxItems = Math.max(...nodes.map(cursor.maxItems));
  if (json.length > maxItems)
    return leaveOut(
      { path: [...cursor.path], expected: `a list of at most ${maxItems} items`, found: `a list of ${json.length}` },
      cursor,
    );
  const items = nodes.map((node) => node.items);
  return json.map((value, position) => readItem(items, position, { value, cursor }));
}

function readItem(
  nodes: readonly Node[],
  part: string | number,
  { value: json, cursor }: { readonly value: unknown; readonly cursor: Cursor },
): unknown {
  cursor.path.push(part);
  const value = read(nodes, json, cursor);
  cursor.path.pop();
  const newest = nodes.at(-1);
  return value === absent && newest !== undefined ? nodeTypes[newest.type].placeholder : value;
}

interface NodeType {
  /** For messages, with article. */
  readonly name: string;
  readonly placeholder: unknown;
  holds(json: unknown): boolean;
}

const nodeTypes: Readonly<Record<Node['type'], NodeType>> = {
  string: { name: 'a string', placeholder: unreadableString, holds: (json) => typeof json === 'string' },
  integer: { name: 'an integer', placeholder: unreadableInteger, holds: (json) => Number.isSafeInteger(json) },
  boolean: { name: 'true or false', placeholder: false, holds: (json) => typeof json === 'boolean' },
  list: { name: 'a list', placeholder: [], holds: Array.isArray },
  object: { name: 'an object', placeholder: {}, holds: isRecord },
  map: { name: 'an object', placeholder: {}, holds: isRecord },
  intOrString: {
    name: 'an integer or a string',
    placeholder: unreadableString,
    holds: (json) => typeof json === 'string' || Number.isSafeInteger(json),
  },
};
