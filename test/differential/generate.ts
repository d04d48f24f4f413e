import { resolve, resolveAll, type Bundle, type MaybeVersioned } from '../../src/core/schema/availability.ts';
import { fieldsIn } from '../../src/core/schema/locate.ts';
import type { IntegerNode, ListNode, MapNode, Node, ObjectNode, StringNode } from '../../src/core/schema/node.ts';
import type { Random } from './random.ts';
import { texts } from './texts.ts';

/** Where values are made for: they fit the schema that a bundle has there. */
export interface Making {
  readonly bundle: Bundle;
  readonly random: Random;
}

/** How likely a field is there that may be left out. */
const optionalChance = 0.35;
/** Of the texts that fit a place, mostly the first few are taken: rules compare texts of neighbours. */
const favourites = 3;

/** A random value that fits the schema of a place, though hardly the rules beside it. */
export function valueFor(node: Node, making: Making): unknown {
  switch (node.type) {
    case 'string':
      return textFor(node, making);
    case 'integer':
      return integerFor(node, making);
    case 'boolean':
      return boundOf(node.enum?.[0], making.bundle) ?? making.random.chance(0.5);
    case 'list':
      return listFor(node, making);
    case 'map':
      return mapFor(node, making);
    case 'object':
      return objectFor(node, making);
    case 'intOrString':
      return making.random.pick([80, 'http']);
  }
}

function objectFor(node: ObjectNode, making: Making): Record<string, unknown> {
  const fields = fieldsIn(node, making.bundle);
  const required = new Set(resolveAll(node.required ?? [], making.bundle));
  const kept = [...fields].filter(([name]) => required.has(name) || making.random.chance(optionalChance));
  const made = Object.fromEntries(kept.map(([name, child]) => [name, valueFor(child, making)]));
  Object.assign(made, unknownFields(node, fields, making));
  if (fields.has('group') && fields.has('kind') && making.random.chance(0.3))
    Object.assign(made, making.random.pick(knownKinds));
  return making.random.chance(0.8) ? withMemberOfType(fields, made, making) : made;
}

/** How likely an object has a field that its bundle does not have, where other bundles do, or one that none has. */
const unknownChance = 0.1;

/** A field that the API server drops before it judges the object: what is left must be right without it. */
function unknownFields(
  node: ObjectNode,
  known: ReadonlyMap<string, Node>,
  { random }: Making,
): Record<string, unknown> {
  if (!random.chance(unknownChance)) return {};
  const others = Object.keys(node.fields).filter((name) => !known.has(name));
  return {
    [others.length === 0 ? 'unknownField' : random.pick(others)]: random.pick<unknown>([
      'a',
      80,
      true,
      [],
      {},
      { name: 'a' },
    ]),
  };
}

/** Kinds that rules treat in a way of their own. */
const knownKinds = [
  { group: '', kind: 'Service' },
  { group: 'gateway.networking.x-k8s.io', kind: 'XBackend' },
  { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle' },
] as const;

/** Of the fields that are named like values of `type`, the one of the chosen value: objects are hardly ever made so by chance. */
function withMemberOfType(
  fields: ReadonlyMap<string, Node>,
  made: Record<string, unknown>,
  making: Making,
): Record<string, unknown> {
  const type = fields.get('type');
  if (type?.type !== 'string' || type.enum === undefined) return made;
  const types = new Set(resolveAll<string>(type.enum, making.bundle).map((value) => value.toLowerCase()));
  const others = Object.entries(made).filter(([name]) => !types.has(name.toLowerCase()));
  const chosen = [...fields].find(([name]) => name.toLowerCase() === String(made['type']).toLowerCase());
  return {
    ...Object.fromEntries(others),
    ...(chosen === undefined ? {} : { [chosen[0]]: made[chosen[0]] ?? valueFor(chosen[1], making) }),
  };
}

function listFor(node: ListNode, making: Making): readonly unknown[] {
  const least = boundOf(node.minItems, making.bundle) ?? 0;
  const most = Math.max(least, Math.min(boundOf(node.maxItems, making.bundle) ?? 3, 3));
  const items = Array.from({ length: least + making.random.below(most - least + 1) }, () =>
    valueFor(node.items, making),
  );
  return boundOf(node.listType, making.bundle) === 'set' ? [...new Set(items)] : items;
}

function mapFor(node: MapNode, making: Making): Record<string, unknown> {
  const least = boundOf(node.minProperties, making.bundle) ?? 0;
  const keys = Array.from({ length: least + making.random.below(2) }, () =>
    making.random.pick(['team', 'example.com/team', 'a/b/c', 'a b', `${'a'.repeat(253)}/a`]),
  );
  return Object.fromEntries(keys.map((key) => [key, valueFor(node.values, making)]));
}

function integerFor(node: IntegerNode, { bundle, random }: Making): number {
  const values = resolveAll<number>(node.enum ?? [], bundle);
  if (values.length > 0) return random.pick(values);
  const least = boundOf(node.minimum, bundle) ?? 0;
  const most = boundOf(node.maximum, bundle) ?? 1000;
  return random.pick([
    least,
    most,
    Math.min(most, Math.max(least, 80)),
    least + random.below(Math.min(most - least, 3) + 1),
  ]);
}

function textFor(node: StringNode, making: Making): string {
  const fitting = textsFitting(node, making.bundle);
  const { random } = making;
  return random.chance(0.7) ? random.pick(fitting.slice(0, favourites)) : random.pick(fitting);
}

const fittingTexts = new WeakMap<StringNode, Map<string, readonly string[]>>();

function textsFitting(node: StringNode, bundle: Bundle): readonly string[] {
  const known = fittingTexts.get(node) ?? new Map<string, readonly string[]>();
  fittingTexts.set(node, known);
  const key = `${bundle.minor} ${bundle.channel}`;
  let fitting = known.get(key);
  if (fitting === undefined) {
    const values = resolveAll<string>(node.enum ?? [], bundle);
    fitting = values.length > 0 ? values : texts.filter((text) => fits(text, node, bundle));
    if (fitting.length === 0) throw new Error(`no text fits ${JSON.stringify(node)}`);
    known.set(key, fitting);
  }
  return fitting;
}

function fits(text: string, node: StringNode, bundle: Bundle): boolean {
  const pattern = boundOf(node.pattern, bundle);
  const { length } = Array.from(text);
  if (length < (boundOf(node.minLength, bundle) ?? 0) || length > (boundOf(node.maxLength, bundle) ?? Infinity))
    return false;
  if (node.format === 'date-time') return text.startsWith('2026-');
  return pattern === undefined || new RegExp(pattern).test(text);
}

function boundOf<T>(value: MaybeVersioned<T> | undefined, bundle: Bundle): T | undefined {
  return value === undefined ? undefined : resolve(value, bundle);
}
