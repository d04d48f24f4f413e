import type { Path } from '../../src/core/resources/path.ts';
import { resolve, resolveAll, type Bundle, type MaybeVersioned } from '../../src/core/schema/availability.ts';
import { fieldsIn, nodeAt } from '../../src/core/schema/locate.ts';
import type { Node, ObjectNode } from '../../src/core/schema/node.ts';
import { examplesOf } from './examples.ts';
import { valueFor, type Making } from './generate.ts';
import { placesIn, valueAt, without, withValue } from './place.ts';
import type { Random } from './random.ts';
import { objectWith, predict, sitesOf, type Subject } from './subject.ts';
import { texts } from './texts.ts';

/**
 * A random object of a subject: one that nothing should be wrong with, or an example of a rule, with a few random changes
 * at most, mostly near a place at which some rule demands something.
 */
export function randomObject(subject: Subject, random: Random): unknown {
  const making: Making = { bundle: subject.bundle, random };
  const spec = fieldsIn(subject.body, subject.bundle).get('spec');
  const written = objectWith(subject, spec === undefined ? undefined : valueFor(spec, making));
  const sites = sitesOf(subject);
  const site = sites.length === 0 ? [] : random.pick(sites);
  const examples = examplesOf(subject);
  let object =
    examples.length > 0 && random.chance(0.2)
      ? random.pick(examples)
      : mended(subject, reaching(subject.body, site, { value: written, making }), making);
  const changes = random.pick([0, 1, 1, 1, 2, 3]);
  for (let change = 0; change < changes; change += 1) object = mutate(subject, object, { site, making });
  return object;
}

const attempts = 60;

/** Mends what we say is wrong, until nothing is; what nobody then mends stays wrong, and is worth a comparison, too. */
function mended(subject: Subject, written: unknown, making: Making): unknown {
  let object = written;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const [wrong] = predict(subject, object);
    if (wrong === undefined) break;
    object = mend(subject, object, { path: wrong.path, making });
  }
  return object;
}

interface Reach {
  readonly value: unknown;
  readonly making: Making;
}

/** The value with everything that leads to a site; lists get a first item. */
function reaching(node: Node, [part, ...rest]: Path, { value, making }: Reach): unknown {
  const child = part === undefined ? undefined : nodeAt(node, [part], making.bundle);
  if (part === undefined || child === undefined) return value;
  const at = valueAt(value, [part]) ?? valueFor(child, making);
  const reached = reaching(child, rest, { value: at, making });
  return Array.isArray(value) && value.length === 0 ? [reached] : withValue(value, [part], reached);
}

interface Mending {
  readonly path: Path;
  readonly making: Making;
}

/** Adds what is missing; takes away, or makes anew, what is there. */
function mend({ body, bundle }: Subject, object: unknown, { path, making }: Mending): unknown {
  const node = nodeAt(body, path, bundle);
  if (node === undefined) return without(object, path);
  const isThere = valueAt(object, path) !== undefined;
  const isNeeded = requiredIn(nodeAt(body, path.slice(0, -1), bundle), bundle).includes(String(path.at(-1)));
  if (isThere && !isNeeded && making.random.chance(0.7)) return without(object, path);
  return withValue(object, path, valueFor(node, making));
}

function requiredIn(node: Node | undefined, bundle: Bundle): readonly string[] {
  return node?.type === 'object' ? resolveAll(node.required ?? [], bundle) : [];
}

interface Mutation {
  readonly site: Path;
  readonly making: Making;
}

/** One change below spec, mostly at a site or just below. */
function mutate({ body, bundle }: Subject, object: unknown, { site, making }: Mutation): unknown {
  const { random } = making;
  const places = placesIn(object).filter(([first]) => first === 'spec');
  const near = places.filter((place) => isNear(place, site));
  const at = near.filter((place) => place.length === site.length);
  const candidates = [random.chance(0.4) ? at : [], random.chance(0.75) ? near : [], places].find(
    (list) => list.length > 0,
  );
  if (candidates === undefined) return object;
  const path = random.pick(candidates);
  const node = nodeAt(body, path, bundle);
  if (node === undefined || random.chance(0.15)) return without(object, path);
  if (random.chance(0.03))
    return withValue(object, path, random.pick([null, 'a', 1, 1.5, -1, true, [], {}, [null], ['']]));
  if (random.chance(0.2)) return withValue(object, path, valueFor(node, making));
  return withValue(object, path, boundaryValue(node, valueAt(object, path), making));
}

/** At most two steps below a site, whatever the positions in lists. */
function isNear(place: Path, site: Path): boolean {
  return (
    site.length > 0 &&
    place.length >= site.length &&
    place.length <= site.length + 2 &&
    site.every(
      (part, position) =>
        typeof part === typeof place[position] && (typeof part === 'number' || part === place[position]),
    )
  );
}

function boundaryValue(node: Node, value: unknown, making: Making): unknown {
  const { random, bundle } = making;
  switch (node.type) {
    case 'string':
      return random.chance(0.5)
        ? valueFor(node, making)
        : random.pick([...texts, 'a'.repeat((boundOf(node.maxLength, bundle) ?? 100) + random.below(2))]);
    case 'integer': {
      const least = boundOf(node.minimum, bundle) ?? 0;
      const most = boundOf(node.maximum, bundle) ?? 2 ** 31 - 1;
      return random.pick([least - 1, least, least + 1, most - 1, most, most + 1, 0, 100]);
    }
    case 'boolean':
      return random.pick([true, false]);
    case 'object':
      return withField(node, value, making);
    case 'map':
      return { ...(value as object), [random.pick(texts)]: random.pick(texts) };
    case 'list':
      return changedList(
        node.items,
        { items: Array.isArray(value) ? value : [], limit: boundOf(node.maxItems, bundle) ?? 4 },
        making,
      );
    case 'intOrString':
      return value;
  }
}

/** With one more field, which may not go with the others. */
function withField(node: ObjectNode, value: unknown, making: Making): unknown {
  const [name, child] = making.random.pick([...fieldsIn(node, making.bundle)]);
  return { ...(value as object), [name]: valueFor(child, making) };
}

interface Items {
  readonly items: readonly unknown[];
  readonly limit: number;
}

/** Longer or shorter, as far as allowed and one further; mostly with an item twice. */
function changedList(node: Node, { items, limit }: Items, making: Making): readonly unknown[] {
  const { random } = making;
  const item = items.length === 0 ? valueFor(node, making) : random.pick(items);
  switch (random.below(8)) {
    case 0:
      return [];
    case 1:
      return [...items, valueFor(node, making)];
    case 2:
      return [...items, valueFor(node, making), valueFor(node, making)];
    case 3:
      return Array.from({ length: Math.min(limit, 200) + random.below(2) }, () => item);
    case 4:
      return Array.from({ length: 2 + random.below(2) }, () => fullItem(node, item, making));
    default:
      return [...items, item];
  }
}

/** With every list in it as long as it may be. */
function fullItem(node: Node, item: unknown, { bundle }: Making): unknown {
  if (node.type !== 'object' || typeof item !== 'object' || item === null) return item;
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => {
      const child = fieldsIn(node, bundle).get(name);
      const limit = child?.type === 'list' ? (boundOf(child.maxItems, bundle) ?? 4) : 0;
      return [
        name,
        Array.isArray(value) && value.length > 0 ? Array.from({ length: limit }, () => value[0] as unknown) : value,
      ];
    }),
  );
}

function boundOf<T>(value: MaybeVersioned<T> | undefined, bundle: Bundle): T | undefined {
  return value === undefined ? undefined : resolve(value, bundle);
}
