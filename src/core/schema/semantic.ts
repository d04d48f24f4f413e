import { allVariants } from './availability.ts';
import type { FieldPath, Json } from './json-values.ts';
import { tables, type KindName, type ViewOf } from './kinds.ts';
import type { Node, Semantic } from './node.ts';
import { unreadableString } from './reader.ts';
import type { headerModifier, httpFilters } from './tables/http-filters.ts';
import type { headerMatches } from './tables/http-route.ts';
import type { labelSelector } from './tables/common.ts';
import type { View } from './view.ts';

/** The value types of semantics; string unless listed. */
interface StructuredValues {
  readonly labelSelector: View<typeof labelSelector>;
  readonly headerModifier: View<typeof headerModifier>;
  readonly headerMatches: View<typeof headerMatches>;
  readonly headerNameList: readonly string[];
  readonly filters: View<typeof httpFilters>;
}

export type SemanticValue<S extends Semantic> = S extends keyof StructuredValues ? StructuredValues[S] : string;

/** Receives the path, the value, and the object or list that contains it, for siblings such as `type`. */
export type Visit<S extends Semantic> = (path: FieldPath, value: SemanticValue<S>, parent: unknown) => void;

/**
 * Visits every value with a given semantic in a view, in the order of the table and of lists. Skips unreadable values. Walks
 * only branches that can contain semantics, once for all semantics that are requested in succession.
 */
export function visitSemantic<K extends KindName, S extends Semantic>(
  kind: K,
  view: ViewOf<K>,
  semantic: S,
  visit: Visit<S>,
): void {
  // A view has the types of its table, so the value at a mark has the type of the mark.
  const found = marksIn(kind, view).get(semantic) as readonly Mark<SemanticValue<S>>[] | undefined;
  found?.forEach(({ path, value, parent }) => visit(path, value, parent));
}

/** A value with a semantic. */
interface Mark<T = unknown> {
  readonly path: FieldPath;
  readonly value: T;
  readonly parent: unknown;
}

type Marks = Map<Semantic, Mark[]>;

// Rules process objects one at a time. Caching more than the last object would cost memory for each.
let last: { readonly view: object; readonly kind: KindName; readonly marks: Marks } | undefined;

function marksIn(kind: KindName, view: object): Marks {
  if (last === undefined || last.view !== view || last.kind !== kind) {
    const marks: Marks = new Map();
    walk(trailOf(kind), view, { path: [], marks });
    last = { view, kind, marks };
  }
  return last.marks;
}

interface Walk {
  /** The current path: one mutable list, since few visited locations have semantics. */
  readonly path: (string | number)[];
  readonly marks: Marks;
}

/** The part of a table that contains semantics. */
interface Trail {
  readonly here: readonly Semantic[];
  readonly fields: readonly (readonly [name: string, trail: Trail])[];
  /** The trail of list items or map values. */
  readonly each?: Trail;
}

function walk(trail: Trail, value: unknown, on: Walk, parent?: unknown): void {
  if (trail.here.length > 0) mark(trail.here, { path: on.path.slice(), value, parent }, on.marks);
  if (typeof value !== 'object' || value === null) return;
  const { each } = trail;
  if (Array.isArray(value)) {
    if (each !== undefined) value.forEach((item, position) => step(each, position, { value: item, parent: value }, on));
    return;
  }
  if (each !== undefined)
    for (const [key, item] of Object.entries(value)) step(each, key, { value: item, parent: value }, on);
  // No field has the name of a prototype property. Restricting the access to own properties would take longer than the rest.
  for (const [name, next] of trail.fields) step(next, name, { value: (value as Json)[name], parent: value }, on);
}

function step(
  trail: Trail,
  part: string | number,
  { value, parent }: { readonly value: unknown; readonly parent: unknown },
  on: Walk,
): void {
  if (value === undefined || value === unreadableString) return;
  on.path.push(part);
  walk(trail, value, on, parent);
  on.path.pop();
}

function mark(semantics: readonly Semantic[], found: Mark, marks: Marks): void {
  for (const semantic of semantics) {
    const others = marks.get(semantic);
    if (others === undefined) marks.set(semantic, [found]);
    else others.push(found);
  }
}

// Trails depend only on the tables, so they are computed once.
const trails = new Map<KindName, Trail>();
const nowhere: Trail = { here: [], fields: [] };

function trailOf(kind: KindName): Trail {
  const trail = trails.get(kind) ?? trailIn(tables[kind].body) ?? nowhere;
  trails.set(kind, trail);
  return trail;
}

function trailIn(node: Node): Trail | undefined {
  const here = node.semantics ?? [];
  const fields = node.type === 'object' ? fieldsWithTrails(node.fields) : [];
  const each = itemsOf(node);
  const eachTrail = each === undefined ? undefined : trailIn(each);
  if (here.length === 0 && fields.length === 0 && eachTrail === undefined) return undefined;
  return eachTrail === undefined ? { here, fields } : { here, fields, each: eachTrail };
}

function itemsOf(node: Node): Node | undefined {
  if (node.type === 'list') return node.items;
  return node.type === 'map' ? node.values : undefined;
}

function fieldsWithTrails(fields: Extract<Node, { type: 'object' }>['fields']): [string, Trail][] {
  return Object.entries(fields).flatMap(([name, field]) =>
    allVariants(field).flatMap((variant): [string, Trail][] => {
      const trail = trailIn(variant);
      return trail === undefined ? [] : [[name, trail]];
    }),
  );
}
