import { resolve, resolveAll, type Bundle, type MaybeVersioned } from '../../../src/core/schema/availability.ts';
import { schemaTables, supportedMinors, type KindTable, type SchemaKind } from '../../../src/core/schema/index.ts';
import { fieldsIn } from '../../../src/core/schema/locate.ts';
import type { ListNode, MapNode, Node, ObjectNode, StringNode } from '../../../src/core/schema/node.ts';
import { apiVersionOf } from '../../../src/core/schema/tables/table.ts';
import { versionsIn } from '../../../src/core/schema/compile.ts';

/** An object that a bundle's schema accepts, as large as it may be in one place or everywhere. */
export interface LargeObject {
  readonly kind: SchemaKind;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** The field that is as large as it may be; `everything`: all of them, as far as they fit. */
  readonly place: string;
  readonly bundle: Bundle;
  /** Made when it is asked for: there are many, and most have more than 1 MiB. */
  make(): Record<string, unknown>;
}

/** Bytes of JSON that etcd stores as one object. */
export const storedBytes = 1.5 * 1024 * 1024;

/** Items of lists and maps whose schema sets no limit: as many as fit. */
const unlimited = 200_000;

/** Every bundle, oldest first. */
export const everyBundle: readonly Bundle[] = supportedMinors.flatMap((minor) =>
  (['standard', 'experimental'] as const).map((channel) => ({ minor, channel })),
);

/** The kinds of the Gateway API that have a schema in a bundle. */
export function kindsIn(bundle: Bundle): readonly SchemaKind[] {
  return Object.values<KindTable>(schemaTables)
    .filter((table) => table.group !== '' && table.group !== 'discovery.k8s.io' && versionsIn(table, bundle).length > 0)
    .map(({ kind }) => kind as SchemaKind);
}

/** For each list, map and text of a kind an object in which only that is as large as the bundle allows, then one in which everything is. */
export function* largestObjects(kind: SchemaKind, bundle: Bundle): Generator<LargeObject> {
  const table: KindTable = schemaTables[kind];
  const version = versionsIn(table, bundle).find(({ served }) => served);
  if (version === undefined) return;
  const body = version.body ?? table.body;
  const frame = { kind, group: table.group, version: version.name, plural: table.plural, bundle };
  const headed = (rest: unknown): Record<string, unknown> => ({
    apiVersion: apiVersionOf(table, version.name),
    kind,
    metadata: { name: 'large', ...(table.namespaced ? { namespace: 'shop' } : {}) },
    ...(rest as object),
  });
  for (const place of placesOf(body, bundle, [])) {
    yield {
      ...frame,
      place: place.join('.'),
      make: () => headed(new Making(bundle, (at) => at.join('.') === place.join('.'), place).value(body, [], 0)),
    };
  }
  for (const turn of [0, 1, 2])
    yield {
      ...frame,
      place: `everything ${turn}`,
      make: () => headed(new Making(bundle, () => true, undefined, { turn }).value(body, [], 0)),
    };
  // All lists of the same length: wide rather than deep.
  for (const most of [1, 4, 16, 64])
    yield {
      ...frame,
      place: `everything, ${most} each`,
      make: () => headed(new Making(bundle, () => true, undefined, { most }).value(body, [], 0)),
    };
}

/**
 * Those that are judged in a run of a few minutes: of the newest and the oldest minor all. Each bundle between has the same fields
 * as one of them or its neighbor, and there everything is large at once.
 */
export function largestObjectsToJudge(kind: SchemaKind, bundle: Bundle): readonly LargeObject[] {
  const all = [...largestObjects(kind, bundle)];
  const isAtEnd = bundle.minor === supportedMinors[0] || bundle.minor === supportedMinors.at(-1);
  return isAtEnd ? all : all.filter(({ place }) => place.startsWith('everything'));
}

/** Names of fields on the way to a node; `*` for the items of a list or the values of a map. */
type Place = readonly string[];

/** Every list, map and text in a schema. */
export function* placesOf(node: Node, bundle: Bundle, at: Place): Generator<Place> {
  if (
    node.type === 'list' ||
    node.type === 'map' ||
    (node.type === 'string' && resolveAll(node.enum ?? [], bundle).length === 0)
  )
    yield at;
  if (node.type === 'list') yield* placesOf(node.items, bundle, [...at, '*']);
  if (node.type === 'map') yield* placesOf(node.values, bundle, [...at, '*']);
  if (node.type === 'object')
    for (const [name, child] of fieldsOf(node, bundle)) yield* placesOf(child, bundle, [...at, name]);
}

function fieldsOf(node: ObjectNode, bundle: Bundle): readonly (readonly [string, Node])[] {
  return [...fieldsIn(node, bundle)].filter(([name]) => name !== 'status');
}

class Making {
  private left = storedBytes;
  private readonly forms = new Map<StringNode, Form>();
  private readonly bundle: Bundle;
  private readonly grows: (at: Place) => boolean;
  /** Where optional fields lead that are written; `undefined`: all are. */
  private readonly toward: Place | undefined;
  /** Which of the values of an enum comes first. */
  private readonly turn: number;
  /** Items of a list, where it may have as many. */
  private readonly most: number;

  constructor(
    bundle: Bundle,
    grows: (at: Place) => boolean,
    toward: Place | undefined,
    { turn = 0, most = unlimited }: { readonly turn?: number; readonly most?: number } = {},
  ) {
    this.bundle = bundle;
    this.grows = grows;
    this.toward = toward;
    this.turn = turn;
    this.most = most;
  }

  /** @param index of the item that the value is part of, so that items differ */
  value(node: Node, at: Place, index: number): unknown {
    switch (node.type) {
      case 'object':
        return this.object(node, at, index);
      case 'list':
        return this.list(node, at, index);
      case 'map':
        return this.map(node, at, index);
      case 'string':
        return this.text(node, at, index);
      case 'integer':
        return this.spend(
          this.number(
            resolveAll(node.enum ?? [], this.bundle),
            this.bound(node.minimum) ?? 0,
            this.bound(node.maximum) ?? 65_535,
            index,
          ),
          6,
        );
      case 'boolean':
        return this.spend(true, 5);
      case 'intOrString':
        return this.spend(80, 3);
    }
  }

  private object(node: ObjectNode, at: Place, index: number): unknown {
    const required = resolveAll(node.required ?? [], this.bundle);
    const made: Record<string, unknown> = {};
    // What must be there comes first, so that it is there when the room is used up.
    const fields = fieldsOf(node, this.bundle).toSorted(
      ([one], [other]) => Number(required.includes(other)) - Number(required.includes(one)),
    );
    for (const [name, child] of fields) {
      const isWanted =
        required.includes(name) || (this.toward === undefined ? this.left > 0 : leadsTo(this.toward, [...at, name]));
      if (isWanted) made[name] = this.value(child, [...at, name], this.spend(index, name.length + 4));
    }
    return made;
  }

  private list(node: ListNode, at: Place, index: number): unknown {
    const most = this.grows(at)
      ? Math.min(this.most, this.bound(node.maxItems) ?? unlimited)
      : Math.max(1, this.bound(node.minItems) ?? 1);
    const items: unknown[] = [];
    const listType = node.listType === undefined ? undefined : resolve(node.listType, this.bundle);
    const known = new Set<string>();
    for (let position = 0; position < most && (position === 0 || this.left > 0); position += 1) {
      const item = this.value(node.items, [...at, '*'], index * 1009 + position);
      if (listType === 'map' || listType === 'set') {
        const key = JSON.stringify(
          listType === 'set' ? item : (node.keys ?? []).map((name) => (item as Record<string, unknown>)[name]),
        );
        if (known.has(key)) continue;
        known.add(key);
      }
      items.push(item);
    }
    return items;
  }

  private map(node: MapNode, at: Place, index: number): unknown {
    const most = this.grows(at) ? Math.min(this.most, this.bound(node.maxProperties) ?? unlimited) : 1;
    const made: Record<string, unknown> = {};
    for (let position = 0; position < most && (position === 0 || this.left > 0); position += 1) {
      made[this.spend(`example.com/k${position}`, 24)] = this.value(node.values, [...at, '*'], index + position);
    }
    return made;
  }

  private text(node: StringNode, at: Place, index: number): string {
    const known = resolveAll<string>(node.enum ?? [], this.bundle);
    const choice = known[(index + this.turn) % Math.max(1, known.length)];
    if (choice !== undefined) return this.spend(choice, choice.length + 3);
    const most = this.bound(node.maxLength) ?? storedBytes;
    const length = this.grows(at)
      ? Math.max(1, Math.min(most, this.toward === undefined ? 64 : this.left))
      : Math.min(most, 24);
    const pattern = resolve(node.pattern ?? '', this.bundle) ?? '';
    const fitting = this.fitting(node, { length, most, pattern, index: `${index}` });
    return this.spend(fitting, fitting.length + 3);
  }

  /** The form that fitted the last time mostly fits again: patterns are long, and an object may have 100,000 texts. */
  private fitting(
    node: StringNode,
    {
      length,
      most,
      pattern,
      index,
    }: { readonly length: number; readonly most: number; readonly pattern: string; readonly index: string },
  ): string {
    const before = this.forms.get(node);
    const ordered = before === undefined ? forms : [before, ...forms];
    for (const form of ordered) {
      const text = form(length, index);
      if (text.length > most || !fits(pattern, text)) continue;
      this.forms.set(node, form);
      return text;
    }
    return '';
  }

  private number(known: readonly number[], minimum: number, maximum: number, index: number): number {
    return known.length > 0
      ? (known[(index + this.turn) % known.length] ?? minimum)
      : minimum + (index % Math.max(1, maximum - minimum + 1));
  }

  private bound(value: MaybeVersioned<number> | undefined): number | undefined {
    return value === undefined ? undefined : resolve(value, this.bundle);
  }

  private spend<T>(value: T, bytes: number): T {
    this.left -= bytes;
    return value;
  }
}

function leadsTo(place: Place, at: Place): boolean {
  return at.length <= place.length && at.every((name, position) => name === place[position]);
}

type Form = (length: number, index: string) => string;

/** Texts of about a length, for the patterns of the tables: names, paths, times, percentages. */
const forms: readonly Form[] = [
  (length, index) => `a${index}${'a'.repeat(Math.max(0, length - index.length - 1))}`,
  (length, index) => {
    const room = Math.max(1, length - index.length - 2);
    return `${`${'a'.repeat(60)}.`
      .repeat(Math.ceil(room / 61))
      .slice(0, room)
      .replace(/\.$/, 'b')}.a${index}`;
  },
  (_, index) => `a${index}`,
  (length, index) => `/${index}${'/a'.repeat(Math.floor(Math.max(0, length - index.length - 1) / 2))}`,
  ...['10.0.0.1', '1s', '8080', 'example.com/a', 'https://a.example.com', 'HTTP', 'A', 'GET', '*', '1', 'a'].map(
    (text): Form =>
      () =>
        text,
  ),
];

const patterns = new Map<string, RegExp>();

function fits(pattern: string, text: string): boolean {
  if (pattern === '') return true;
  let known = patterns.get(pattern);
  if (known === undefined) {
    known = new RegExp(pattern, 'u');
    patterns.set(pattern, known);
  }
  return known.test(text);
}
