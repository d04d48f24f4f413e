import { allVariants } from './availability.ts';
import { mostItems } from './limits.ts';
import type { ListNode, MapNode, Node, ObjectNode } from './node.ts';
import { describeJson, isPresent, isRecord, type FieldPath, type Json } from './json-values.ts';
import type { View } from './view.ts';

/** Something that has another JSON type than any bundle gives it, or is longer than in any, and was therefore left out of the view. */
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
 * Stands in for a list item or map value that should be a string and is none, so that its neighbours keep their
 * positions. It equals no value that any field may have, so nothing ever matches it.
 */
export const unreadableString = '\u0000';
/** The same for integers: no port, weight or status code. */
export const unreadableInteger = -1;

/** Reading ends here, with a problem about the whole object, so that nothing of it is taken for readable. */
const maximumUnreadable = 256;
const tooMany: FieldProblem = { path: [], expected: `fewer than ${maximumUnreadable} unreadable fields`, found: 'more' };

/**
 * Reads a JSON value as the table node describes it, in whatever bundle. Never throws, whatever the JSON.
 *
 * - What has the right JSON type is kept, whatever its value; unknown properties are left out; null counts as absent.
 * - What has the wrong JSON type is left out and reported in `unreadable` by its path. Items of lists keep their
 *   positions: an unreadable object becomes `{}`, a list `[]`, a scalar `unreadableString` or `unreadableInteger`.
 * - A list or map with more items than any bundle allows is left out in the same way, and costs nothing.
 * - It looks no deeper than the table does, so deep nesting costs nothing.
 *
 * A view alone cannot tell "absent" from "unreadable": whoever would take a default for something absent looks into
 * `unreadable` first and fails closed.
 */
export function readView<N extends Node>(node: N, json: unknown): ReadView<N> {
  return readWithin(node, json, mostItems);
}

/** The same for what `settle` has cut already: one item more than there may be is left for the judges to see. */
export function readSettled<N extends Node>(node: N, json: unknown): ReadView<N> {
  return readWithin(node, json, () => Number.POSITIVE_INFINITY);
}

function readWithin<N extends Node>(node: N, json: unknown, most: Cursor['most']): ReadView<N> {
  const unreadable: FieldProblem[] = [];
  const value = read([node], json, { path: [], unreadable, most });
  return { view: (value === absent ? nodeTypes[node.type].placeholder : value) as View<N>, unreadable };
}

interface Cursor {
  /** Where the reader is: one list that grows and shrinks, since almost everything can be read. */
  readonly path: (string | number)[];
  readonly unreadable: FieldProblem[];
  /** How many items are read. */
  readonly most: (node: ListNode | MapNode) => number;
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
  if (node.type === 'list') return readList(nodes.length === 1 ? [node] : nodes.filter(isList), json as readonly unknown[], cursor);
  return json;
}

function leaveOut(problem: FieldProblem, cursor: Cursor): typeof absent {
  cursor.unreadable.push(problem);
  if (cursor.unreadable.length === maximumUnreadable - 1) cursor.unreadable.push(tooMany);
  return absent;
}

// A plain loop: this is asked for every value of every object.
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

// Tables never change, and each object asks for the same again.
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
  const most = cursor.most(node);
  if (keys.length > most) return leaveOut({ path: [...cursor.path], expected: `an object with at most ${most} entries`, found: `an object with ${keys.length}` }, cursor);
  // Object.fromEntries defines own properties, `__proto__` included, and so never touches a prototype.
  return Object.fromEntries(keys.map((key) => [key, readItem([node.values], key, { value: json[key], cursor })]));
}

/** Items of a list that had items of another type in other bundles may be of either. */
function readList(nodes: readonly ListNode[], json: readonly unknown[], cursor: Cursor): unknown {
  const most = Math.max(...nodes.map(cursor.most));
  if (json.length > most) return leaveOut({ path: [...cursor.path], expected: `a list of at most ${most} items`, found: `a list of ${json.length}` }, cursor);
  const items = nodes.map((node) => node.items);
  return json.map((value, position) => readItem(items, position, { value, cursor }));
}

function readItem(nodes: readonly Node[], part: string | number, { value: json, cursor }: { readonly value: unknown; readonly cursor: Cursor }): unknown {
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
    name: 'an integer or a string', placeholder: unreadableString,
    holds: (json) => typeof json === 'string' || Number.isSafeInteger(json),
  },
};
