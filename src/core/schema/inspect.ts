import { quote } from '../text/display.ts';
import { allVariants, resolve, type Bundle } from './availability.ts';
import { isPresent, isRecord, property, type FieldPath, type Json } from './json.ts';
import { fieldNames, fieldOf } from './locate.ts';
import type { ListNode, Node, ObjectNode } from './node.ts';
import { elsewhere, maximumProblems, nameOf, suggestion, type StructureProblem, type Subject } from './problem.ts';
import { judgedItems } from './trim.ts';

export interface Inspection {
  /** What the API server refuses. */
  readonly errors: readonly StructureProblem[];
  /** Fields that it drops. */
  readonly unknown: readonly StructureProblem[];
}

/** The fields of every object; what is in metadata is not ours to judge. */
const frame = ['apiVersion', 'kind', 'metadata'] as const;

/**
 * Finds what JSON Schema has no words for: unknown fields, list items with equal keys, repeated items of sets, and
 * lists and maps without a limit that are too long to be judged.
 *
 * @param json an object with defaults filled in: keys may be defaults
 */
export function inspect(subject: Subject, json: unknown): Inspection {
  const state: State = { subject, bundle: subject.bundle, errors: [], unknown: [] };
  if (isRecord(json)) visitObject(subject.body, json, { path: [], frame, state });
  return { errors: state.errors, unknown: state.unknown };
}

interface State {
  readonly subject: Subject;
  readonly bundle: Bundle;
  readonly errors: StructureProblem[];
  readonly unknown: StructureProblem[];
}

interface Place {
  readonly path: FieldPath;
  /** Fields that the table does not list. */
  readonly frame?: readonly string[];
  readonly state: State;
}

function visit(node: Node, json: unknown, place: Place): void {
  if (node.type === 'list' && Array.isArray(json)) visitList(node, json, place);
  else if (node.type === 'object' && isRecord(json)) visitObject(node, json, place);
  else if (node.type === 'map' && isRecord(json)) {
    if (node.maxProperties === undefined) checkCount(Object.keys(json).length, 'entries', place);
    visitEach(node.values, Object.entries(json), place);
  }
}

function visitObject(node: ObjectNode, json: Json, { path, frame: more = [], state }: Place): void {
  for (const name of Object.keys(json)) {
    const child = fieldOf(node, name, state.bundle);
    if (child !== undefined) visitBelow(child, json[name], name, { path, state });
    else if (!more.includes(name) && state.unknown.length < maximumProblems) {
      state.unknown.push(unknownField(node, { path: [...path, name], frame: more, state }));
    }
    if (isFull(state)) return;
  }
}

function visitList(node: ListNode, json: readonly unknown[], place: Place): void {
  if (node.maxItems === undefined) checkCount(json.length, 'items', place);
  checkDistinct(node, json, place);
  visitEach(node.items, json.entries(), place);
}

function visitEach(node: Node, entries: Iterable<readonly [string | number, unknown]>, { path, state }: Place): void {
  for (const [key, value] of entries) {
    visitBelow(node, value, key, { path, state });
    if (isFull(state)) return;
  }
}

/** Only lists and objects: nothing can be wrong inside a scalar that a validator does not see. */
function visitBelow(node: Node, json: unknown, key: string | number, { path, state }: Place): void {
  if (typeof json === 'object' && json !== null) visit(node, json, { path: [...path, key], state });
}

function checkCount(count: number, what: string, { path, state }: Place): void {
  if (count <= judgedItems) return;
  const message = `has ${count} ${what}, too many to be judged; write at most ${judgedItems}`;
  state.errors.push({ path, message, keyword: 'maxItems' });
}

/** Items of a `map` list are told apart by their keys, those of a `set` by their values. */
function checkDistinct(node: ListNode, json: readonly unknown[], { path, state }: Place): void {
  const listType = node.listType === undefined ? undefined : resolve(node.listType, state.bundle);
  const keys = listType === 'map' ? node.keys ?? [] : [];
  if (listType !== 'map' && listType !== 'set') return;
  const first = new Map<string, number>();
  for (const [position, item] of json.entries()) {
    const identity = JSON.stringify(listType === 'set' ? scalarOf(item) : keyValues(item, keys));
    const before = identity === undefined ? undefined : first.get(identity);
    if (identity !== undefined && before === undefined) first.set(identity, position);
    if (before === undefined) continue;
    const message = listType === 'set'
      ? `repeats ${quote(item)} of item ${before}; write it once`
      : `has the same ${describeKeys(item, keys)} as item ${before}; give each item one of its own`;
    state.errors.push({ path: [...path, position], message, keyword: 'duplicate' });
    if (state.errors.length >= maximumProblems) return;
  }
}

function scalarOf(item: unknown): unknown {
  return isPresent(item) && typeof item !== 'object' ? item : undefined;
}

/** `undefined` where a key is missing or no scalar: then the item is wrong in another way. */
function keyValues(item: unknown, keys: readonly string[]): readonly unknown[] | undefined {
  if (!isRecord(item)) return undefined;
  const values = keys.map((key) => scalarOf(property(item, key)));
  return values.includes(undefined) ? undefined : values;
}

function describeKeys(item: unknown, keys: readonly string[]): string {
  return keys.map((key) => `${key} ${quote(isRecord(item) ? property(item, key) : undefined)}`).join(' and ');
}

function unknownField(node: ObjectNode, { path, frame: more = [], state }: Place): StructureProblem {
  const { subject, bundle } = state;
  const name = String(path.at(-1));
  const place = elsewhere(subject, path, () => true);
  if (place !== undefined) return knownElsewhere(newestField(node, name), { path, place, bundle });
  const known = [...fieldNames(node, bundle), ...more];
  const near = suggestion(name, known);
  const advice = near === undefined ? `the fields here are ${known.join(', ')}` : `did you mean ${near}?`;
  return { path, message: `is no field of ${nameOf(bundle)}, so the API server drops it; ${advice}`, keyword: 'unknown' };
}

function newestField({ fields }: ObjectNode, name: string): Node | undefined {
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  return field === undefined ? undefined : allVariants(field).at(-1);
}

interface Elsewhere {
  readonly path: FieldPath;
  readonly place: string;
  readonly bundle: Bundle;
}

/** With what stands for the field here, and what goes with it, where the table says so. */
function knownElsewhere(field: Node | undefined, { path, place, bundle }: Elsewhere): StructureProblem {
  const instead = field?.instead === undefined ? undefined : resolve(field.instead, bundle);
  const here = instead === undefined ? '' : `, which has ${instead} instead`;
  const dropped = `${place}${here}: the API server drops it`;
  const lost = field?.lost;
  return lost === undefined ? { path, message: dropped, keyword: 'unknown' } : { path, message: `${dropped}. ${lost}`, keyword: 'unknown', lost };
}

function isFull({ errors, unknown }: State): boolean {
  return errors.length >= maximumProblems && unknown.length >= maximumProblems;
}
