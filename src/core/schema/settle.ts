import { quote } from '../text/display.ts';
import type { Steps } from '../text/steps.ts';
import { resolve, type MaybeVersioned } from './availability.ts';
import { defaultsIn, withoutNulls } from './defaults.ts';
import { isPresent, isRecord, property, type Json } from './json-values.ts';
import { judgedItems } from './limits.ts';
import { fieldsIn } from './locate.ts';
import type { ListNode, ListType, MapNode, Node, ObjectNode } from './node.ts';
import { perBundle } from './per-bundle.ts';
import { maximumProblems, type StructureProblem, type Subject } from './problem.ts';
import { unknownField } from './unknown-field.ts';

export interface Settled {
  /** With defaults and without unknown fields. Lists and maps are truncated one item after their limit. */
  readonly value: unknown;
  /** Problems for which the API server rejects the object. */
  readonly errors: readonly StructureProblem[];
  /** Fields that the API server drops. */
  readonly unknown: readonly StructureProblem[];
}

/** The fields common to all objects. The content of metadata is not validated. */
const frame = ['apiVersion', 'kind', 'metadata'] as const;

/**
 * Prepares an object as the API server does before validation: fills in defaults, and drops unknown fields and nulls. Finds
 * the problems that JSON Schema cannot express: unknown fields, list items with duplicate keys, duplicate items of sets, and
 * lists and maps without a limit that are too long to validate. Lists and maps are truncated, so that the cost of validating
 * a huge object is bounded while its excess is still detected. Does not modify the input, and does not copy parts without
 * changes. A step settles some items of lists in `spec`.
 */
export function* settle(subject: Subject, json: unknown): Steps<Settled> {
  const state: State = { subject, path: [], errors: [], unknown: [], settled: new Map(), values: 0 };
  yield* settleItems(state, json);
  const value = isRecord(json) ? settleObject(subject.body, json, { state, others: frame }) : json;
  return { value, errors: state.errors, unknown: state.unknown };
}

/** Settles the lists that large objects mainly consist of, such as the rules of a route, before the objects that contain them. */
function* settleItems(state: State, json: unknown): Steps<void> {
  const {
    subject: { body, bundle },
    path,
    settled,
  } = state;
  const node = fieldsIn(body, bundle).get('spec');
  const spec = isRecord(json) ? property(json, 'spec') : undefined;
  if (node?.type !== 'object' || !isRecord(spec)) return;
  for (const [name, list] of fieldsIn(node, bundle)) {
    const items = property(spec, name);
    if (list.type !== 'list' || !Array.isArray(items)) continue;
    path.push('spec', name);
    const done: unknown[] = [];
    for (const [position, item] of items.slice(0, listRules(list, bundle).limit).entries()) {
      done.push(settleBelow(list.items, item, { part: position, state }));
      state.values += 1;
      if (state.values < valuesOfStep) continue;
      state.values = 0;
      yield;
    }
    path.length = 0;
    settled.set(name, done);
  }
}

/**
 * The number of items and objects after which a step ends. To yield through all generators of a decision takes longer than to settle an
 * object, so the lists of most objects are settled in one step.
 */
const valuesOfStep = 100;

interface State {
  readonly subject: Subject;
  /** The current path: one mutable list, since almost all values are valid. */
  readonly path: (string | number)[];
  readonly errors: StructureProblem[];
  readonly unknown: StructureProblem[];
  /** The results for the items of lists in `spec` that were settled before, by the name of the list. */
  readonly settled: Map<string | number, readonly unknown[]>;
  /** The items and objects of this step so far. */
  values: number;
}

interface Walk {
  readonly state: State;
  /** Fields that are allowed here although the table does not list them. */
  readonly others: readonly string[];
}

/** Scalars are returned unchanged: the validator finds all of their problems. */
function settleBelow(
  node: Node,
  json: unknown,
  { part, state }: { readonly part: string | number; readonly state: State },
): unknown {
  if (typeof json !== 'object' || json === null) return json;
  if (state.path.length === 2 && state.path[0] === 'spec') {
    const done = state.settled.get(state.path[1] ?? '');
    if (done !== undefined) return done[Number(part)];
  }
  state.path.push(part);
  const value = settleValue(node, json, state);
  state.path.pop();
  return value;
}

function settleValue(node: Node, json: object, state: State): unknown {
  if (node.type === 'list') return Array.isArray(json) ? settleList(node, json, state) : json;
  if (!isRecord(json)) return json;
  if (node.type === 'object') return settleObject(node, json, { state, others: [] });
  return node.type === 'map' ? settleMap(node, json, state) : json;
}

/** One pass over the fields: most objects come from the API server, with defaults, and without nulls and unknown fields. */
function settleObject(node: ObjectNode, json: Json, { state, others }: Walk): unknown {
  state.values += 1;
  const { bundle } = state.subject;
  const fields = fieldsIn(node, bundle);
  const names = Object.keys(json);
  let kept: Record<string, unknown> | undefined;
  let position = 0;
  for (const name of names) {
    const child = fields.get(name);
    const written = json[name];
    if (child === undefined && !others.includes(name)) noteUnknown(node, name, { state, others });
    const isKept = child !== undefined && isPresent(written);
    const value = isKept ? settleBelow(child, written, { part: name, state }) : undefined;
    if (kept === undefined && (!isKept || value !== written)) kept = pick(json, names.slice(0, position));
    if (kept !== undefined && isKept) kept[name] = value;
    position += 1;
  }
  for (const { name, child, value } of defaultsIn(node, bundle)) {
    if (isPresent(property(json, name))) continue;
    kept ??= pick(json, names);
    kept[name] = settleBelow(child, value, { part: name, state });
  }
  return kept ?? json;
}

function pick(json: Json, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) picked[name] = json[name];
  return picked;
}

function noteUnknown(node: ObjectNode, name: string, { state: { subject, path, unknown }, others }: Walk): void {
  if (unknown.length < maximumProblems) unknown.push(unknownField(node, [...path, name], { subject, others }));
}

function settleList(node: ListNode, json: readonly unknown[], state: State): unknown {
  const { limit, listType } = listRules(node, state.subject.bundle);
  if (node.maxItems === undefined) checkCount(json.length, 'items', state);
  const items = json.length > limit ? json.slice(0, limit) : json;
  let settled: unknown[] | undefined;
  for (let position = 0; position < items.length; position++) {
    const item = settleBelow(node.items, items[position], { part: position, state });
    if (settled === undefined && item !== items[position]) settled = items.slice(0, position);
    settled?.push(item);
  }
  // Checked after defaulting, because keys may have defaults.
  if (listType === 'map' || listType === 'set')
    checkDistinct(settled ?? items, listType === 'map' ? (node.keys ?? []) : undefined, state);
  return settled ?? items;
}

function settleMap(node: MapNode, written: Json, state: State): unknown {
  const limit = limitOf(node.maxProperties, state.subject);
  const json = withoutNulls(written);
  const keys = Object.keys(json);
  if (node.maxProperties === undefined) checkCount(keys.length, 'entries', state);
  const kept = keys
    .slice(0, limit)
    .map((key): [string, unknown] => [key, settleBelow(node.values, json[key], { part: key, state })]);
  const isSame = kept.length === keys.length && kept.every(([key, value]) => value === json[key]);
  // Object.fromEntries defines own properties, including `__proto__`, and so never modifies a prototype.
  return isSame ? json : Object.fromEntries(kept);
}

const listRules = perBundle(
  (node: ListNode, bundle): { readonly limit: number; readonly listType: ListType | undefined } => ({
    limit: limitOf(node.maxItems, { bundle }),
    listType: node.listType === undefined ? undefined : resolve(node.listType, bundle),
  }),
);

/** The number of items to keep: one more than the limit. */
function limitOf(most: MaybeVersioned<number> | undefined, { bundle }: Pick<Subject, 'bundle'>): number {
  return ((most === undefined ? undefined : resolve(most, bundle)) ?? judgedItems) + 1;
}

function checkCount(count: number, what: string, { path, errors }: State): void {
  if (count <= judgedItems) return;
  errors.push({
    path: [...path],
    message: `Too many ${what}: there are ${count}, and at most ${judgedItems} are validated. Use at most ${judgedItems}.`,
    keyword: 'maxItems',
  });
}

/**
 * Reports duplicate items. Items of a `map` list are identified by their keys, those of a `set` by their values.
 *
 * @param keys `undefined`: a set
 */
function checkDistinct(items: readonly unknown[], keys: readonly string[] | undefined, { path, errors }: State): void {
  if (items.length < 2) return;
  // If any item is not an object, the API server does not compare the others either.
  if (keys !== undefined && !items.every(isRecord)) return;
  const first = new Map<unknown, number>();
  for (let position = 0; position < items.length; position += 1) {
    const item = items[position];
    const identity = keys === undefined ? scalarOf(item) : keyValues(item, keys);
    if (identity === undefined) continue;
    const before = first.get(identity);
    if (before === undefined) first.set(identity, position);
    else if (errors.length < maximumProblems)
      errors.push({ path: [...path, position], message: describeRepetition(item, keys, before), keyword: 'duplicate' });
  }
}

function describeRepetition(item: unknown, keys: readonly string[] | undefined, before: number): string {
  return keys === undefined
    ? `Duplicate value ${quote(item)}: item ${before} is the same. Remove one of them.`
    : `Duplicate ${describeKeys(item, keys)}: item ${before} has the same. Use distinct values.`;
}

function scalarOf(item: unknown): unknown {
  return isPresent(item) && typeof item !== 'object' ? item : undefined;
}

/**
 * A unique identity of the values of the keys; `undefined` if one is absent or not a scalar, which is reported as another
 * problem.
 */
function keyValues(item: unknown, keys: readonly string[]): unknown {
  if (!isRecord(item)) return undefined;
  const [only = ''] = keys;
  // Most lists have one key, and some have thousands of items.
  if (keys.length === 1) return scalarOf(property(item, only));
  const values = keys.map((key) => scalarOf(property(item, key)));
  return values.includes(undefined) ? undefined : JSON.stringify(values);
}

function describeKeys(item: unknown, keys: readonly string[]): string {
  return keys.map((key) => `${key} ${quote(isRecord(item) ? property(item, key) : undefined)}`).join(' and ');
}
