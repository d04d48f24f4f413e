import { allVariants } from './availability.ts';
import type { FieldPath, Json } from './json-values.ts';
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
 * out. Only branches in which some meaning can occur are walked, once for all meanings that are asked for in turn.
 */
export function visitSemantic<K extends KindName, S extends Semantic>(
  kind: K, view: ViewOf<K>, semantic: S, visit: Visit<S>,
): void {
  // A view has the types of its table, so what stands at a mark is what the mark promises.
  const found = marksIn(kind, view).get(semantic) as readonly Mark<SemanticValue<S>>[] | undefined;
  found?.forEach(({ path, value, parent }) => visit(path, value, parent));
}

/** A value that has a meaning. */
interface Mark<T = unknown> {
  readonly path: FieldPath;
  readonly value: T;
  readonly parent: unknown;
}

type Marks = Map<Semantic, Mark[]>;

// Rules look at one object one after the other. Remembering more than that object would cost memory for each.
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
  /** Where the walk is: one list that grows and shrinks, since few places have a meaning of those that are passed. */
  readonly path: (string | number)[];
  readonly marks: Marks;
}

/** The part of a table in which there are meanings. */
interface Trail {
  readonly here: readonly Semantic[];
  readonly fields: readonly (readonly [name: string, trail: Trail])[];
  /** Of the items of a list or the values of a map. */
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
  if (each !== undefined) for (const [key, item] of Object.entries(value)) step(each, key, { value: item, parent: value }, on);
  // No field has the name of anything that a prototype has; asking for own properties alone takes longer than the rest.
  for (const [name, next] of trail.fields) step(next, name, { value: (value as Json)[name], parent: value }, on);
}

function step(trail: Trail, part: string | number, { value, parent }: { readonly value: unknown; readonly parent: unknown }, on: Walk): void {
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

// Trails depend on nothing but the tables; they are computed once.
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
  return Object.entries(fields).flatMap(([name, field]) => allVariants(field).flatMap((variant): [string, Trail][] => {
    const trail = trailIn(variant);
    return trail === undefined ? [] : [[name, trail]];
  }));
}
