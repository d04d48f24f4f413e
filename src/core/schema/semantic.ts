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

/** Receives the place, the value, and the object or list that contains it, for siblings such as `type`. */
export type Visit<S extends Semantic> = (place: Place, value: SemanticValue<S>, parent: unknown) => void;

/** The place of a value in a view. Its path is created when it is read: almost all values have no findings. */
export class Place {
  readonly value: unknown;
  readonly above: Place | undefined;
  private readonly part: string | number;

  /** @param part the field, key or position in `above` */
  constructor(value: unknown, part: string | number = '', above?: Place) {
    this.value = value;
    this.part = part;
    this.above = above;
  }

  get path(): FieldPath {
    // The root has no part.
    return this.above === undefined ? [] : [...this.above.path, this.part];
  }
}

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
  for (const place of marksIn(kind, view).get(semantic) ?? nothing)
    visit(place, place.value as SemanticValue<S>, place.above?.value);
}

const nothing: readonly Place[] = [];

type Marks = Map<Semantic, Place[]>;

// Rules process objects one at a time. Caching more than the last object would cost memory for each.
let last: { readonly view: object; readonly kind: KindName; readonly marks: Marks } | undefined;

function marksIn(kind: KindName, view: object): Marks {
  if (last === undefined || last.view !== view || last.kind !== kind) {
    const marks: Marks = new Map();
    walk(trailOf(kind), new Place(view), marks);
    last = { view, kind, marks };
  }
  return last.marks;
}

/** The part of a table that contains semantics. */
interface Trail {
  readonly here: readonly Semantic[];
  readonly fields: readonly (readonly [name: string, trail: Trail])[];
  /** The trail of list items or map values. */
  readonly each?: Trail;
}

function walk(trail: Trail, place: Place, marks: Marks): void {
  for (const semantic of trail.here) mark(semantic, place, marks);
  const { value } = place;
  if (typeof value !== 'object' || value === null) return;
  const { each } = trail;
  if (Array.isArray(value)) {
    if (each !== undefined)
      for (let position = 0; position < value.length; position++)
        walkBelow(each, new Place(value[position], position, place), marks);
    return;
  }
  if (each !== undefined)
    for (const [key, item] of Object.entries(value)) walkBelow(each, new Place(item, key, place), marks);
  for (const [name, next] of trail.fields) {
    // No field has the name of a prototype property. Restricting the access to own properties would take longer than the rest.
    const field = (value as Json)[name];
    if (field !== undefined) walkBelow(next, new Place(field, name, place), marks);
  }
}

function walkBelow(trail: Trail, place: Place, marks: Marks): void {
  if (place.value !== undefined && place.value !== unreadableString) walk(trail, place, marks);
}

function mark(semantic: Semantic, place: Place, marks: Marks): void {
  const others = marks.get(semantic);
  if (others === undefined) marks.set(semantic, [place]);
  else others.push(place);
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
