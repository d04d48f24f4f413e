import { allVariants } from './availability.ts';
import type { FieldPath, Json } from './json.ts';
import { tables, type KindName, type ViewOf } from './kinds.ts';
import type { Node, Semantic } from './node.ts';
import { unreadableString } from './reader.ts';
import type { headerModifier, httpFilters } from './tables/http-filters.ts';
import type { headerMatches } from './tables/http-route.ts';
import type { labelSelector } from './tables/common.ts';
import type { View } from './view.ts';

/** What is found under a semantic; a string unless listed. */
interface StructuredValues {
  readonly labelSelector: View<typeof labelSelector>;
  readonly headerModifier: View<typeof headerModifier>;
  readonly headerMatches: View<typeof headerMatches>;
  readonly headerNameList: readonly string[];
  readonly filters: View<typeof httpFilters>;
}

export type SemanticValue<S extends Semantic> = S extends keyof StructuredValues ? StructuredValues[S] : string;

/**
 * What was found: where, what, and the object or list it stands in, for the sake of siblings such as `type`.
 */
export type Visit<S extends Semantic> = (path: FieldPath, value: SemanticValue<S>, parent: unknown) => void;

/**
 * Visits every value of one meaning in a view, in the order of the table and of lists. Unreadable values are left
 * out. Only branches in which the meaning can occur are walked.
 */
export function visitSemantic<K extends KindName, S extends Semantic>(
  kind: K, view: ViewOf<K>, semantic: S, visit: Visit<S>,
): void {
  const trail = trailOf(kind, semantic);
  // A view has the types of its table, so what stands at a mark is what the mark promises.
  if (trail !== undefined) walk(trail, view, { path: [], visit: visit as (...found: Found) => void });
}

type Found = [path: FieldPath, value: unknown, parent: unknown];

interface Walk {
  /** Where the walk is: one list that grows and shrinks, since few places are visited of those that are passed. */
  readonly path: (string | number)[];
  readonly visit: (...found: Found) => void;
}

/** The part of a table that leads to a meaning. */
interface Trail {
  readonly here: boolean;
  readonly fields: readonly (readonly [name: string, trail: Trail])[];
  /** Of the items of a list or the values of a map. */
  readonly each?: Trail;
}

function walk(trail: Trail, value: unknown, on: Walk, parent?: unknown): void {
  if (trail.here) on.visit([...on.path], value, parent);
  if (typeof value !== 'object' || value === null) return;
  const { each } = trail;
  if (Array.isArray(value)) {
    if (each !== undefined) value.forEach((item, position) => step(each, position, { value: item, parent: value }, on));
    return;
  }
  if (each !== undefined) for (const [key, item] of Object.entries(value)) step(each, key, { value: item, parent: value }, on);
  for (const [name, next] of trail.fields) {
    if (Object.hasOwn(value, name)) step(next, name, { value: (value as Json)[name], parent: value }, on);
  }
}

function step(trail: Trail, part: string | number, { value, parent }: { readonly value: unknown; readonly parent: unknown }, on: Walk): void {
  if (value === undefined || value === unreadableString) return;
  on.path.push(part);
  walk(trail, value, on, parent);
  on.path.pop();
}

// Trails depend on nothing but the tables; they are computed once.
const trails = new Map<string, Trail | undefined>();

function trailOf(kind: KindName, semantic: Semantic): Trail | undefined {
  const key = `${kind}/${semantic}`;
  if (!trails.has(key)) trails.set(key, leadTo(tables[kind].body, semantic));
  return trails.get(key);
}

function leadTo(node: Node, semantic: Semantic): Trail | undefined {
  const here = node.semantics?.includes(semantic) === true;
  const fields = node.type === 'object' ? fieldsLeadingTo(node.fields, semantic) : [];
  const each = itemsOf(node);
  const eachTrail = each === undefined ? undefined : leadTo(each, semantic);
  if (!here && fields.length === 0 && eachTrail === undefined) return undefined;
  return eachTrail === undefined ? { here, fields } : { here, fields, each: eachTrail };
}

function itemsOf(node: Node): Node | undefined {
  if (node.type === 'list') return node.items;
  return node.type === 'map' ? node.values : undefined;
}

function fieldsLeadingTo(fields: Extract<Node, { type: 'object' }>['fields'], semantic: Semantic): [string, Trail][] {
  return Object.entries(fields).flatMap(([name, field]) => allVariants(field).flatMap((variant): [string, Trail][] => {
    const trail = leadTo(variant, semantic);
    return trail === undefined ? [] : [[name, trail]];
  }));
}
