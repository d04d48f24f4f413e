import { allVariants } from './availability.ts';
import { isRecord, property, type FieldPath } from './json.ts';
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
  if (trail !== undefined) walk(trail, { path: [], value: view, parent: undefined }, visit as (...found: Found) => void);
}

type Found = [path: FieldPath, value: unknown, parent: unknown];

interface Place {
  readonly path: FieldPath;
  readonly value: unknown;
  readonly parent: unknown;
}

/** The part of a table that leads to a meaning. */
interface Trail {
  readonly here: boolean;
  readonly fields: readonly (readonly [name: string, trail: Trail])[];
  /** Of the items of a list or the values of a map. */
  readonly each?: Trail;
}

function walk(trail: Trail, { path, value, parent }: Place, visit: (...found: Found) => void): void {
  if (value === undefined || value === unreadableString) return;
  if (trail.here) visit(path, value, parent);
  if (trail.each !== undefined) {
    for (const [key, item] of entriesOf(value)) walk(trail.each, { path: [...path, key], value: item, parent: value }, visit);
  }
  if (!isRecord(value)) return;
  for (const [name, next] of trail.fields) {
    walk(next, { path: [...path, name], value: property(value, name), parent: value }, visit);
  }
}

function entriesOf(value: unknown): Iterable<readonly [string | number, unknown]> {
  if (Array.isArray(value)) return value.entries();
  return isRecord(value) ? Object.entries(value) : [];
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
