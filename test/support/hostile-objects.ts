import * as fc from 'fast-check';
import { tables, type KindName } from '../../src/core/schema/index.ts';
import { placesIn, valueAt, withValue } from '../differential/place.ts';
import { createRandom, type Random } from '../differential/random.ts';
import { fuzzedValue } from '../fuzz/objects.ts';
import { anyJson, anyText, textOf } from '../fuzz/values.ts';
import { kubernetesObject } from '../property/world.ts';

/** Where hostile objects live, and what they are aimed at. */
export interface Aim {
  /** What generators call `shop` and `infra`. */
  readonly namespaces: readonly [shop: string, infra: string];
  /** A healthy Gateway in the second of them. */
  readonly gateway: string;
}

/** An object to be stored. */
export interface HostileObject {
  readonly kind: string;
  /** URL path of its collection. */
  readonly collection: string;
  readonly name: string;
  /** JSON. */
  readonly text: string;
  /** JSON of a merge patch of its status, where it has one. */
  readonly status?: string;
}

/** All of them have it. */
export const hostileLabel = 'example.net/hostile';

/** The kinds that the controller reads, all that there can be many of. Of what the API server itself judges, it takes a part. */
const kinds: readonly KindName[] = [
  'HTTPRoute',
  'HTTPRoute',
  'HTTPRoute',
  'GRPCRoute',
  'Gateway',
  'ListenerSet',
  'BackendTLSPolicy',
  'ReferenceGrant',
  'GatewayClass',
  'Service',
  'EndpointSlice',
  'Secret',
  'ConfigMap',
];

/** Kinds that were stored as v1beta1 once. */
const beta: ReadonlySet<KindName> = new Set(['HTTPRoute', 'Gateway', 'GatewayClass', 'ReferenceGrant']);

/** Gateways of a class of ours are given a Deployment each, which takes other controllers their time. */
const maxGateways = 40;

/**
 * Hostile objects that a seed determines: half of them good ones of which parts were replaced by any JSON, half of them
 * made by the fuzzer, of fields of all bundles. Names are unique; many are aimed at the healthy Gateway.
 */
export function hostileObjects(seed: number, count: number, aim: Aim): readonly HostileObject[] {
  const random = createRandom(seed);
  const good = fc.sample(kubernetesObject, { seed, numRuns: Math.ceil(count / 2) });
  let gateways = 0;
  return Array.from({ length: count }, (_, index) => {
    const made = aimed(index % 2 === 0 ? damaged(good[index / 2], random) : fuzzedValue(random), random, aim);
    const { kind, json, ...place } = withIdentity(made, { random, index, aim });
    const isSpare = kind === 'Gateway' && valueAt(json, classOf) !== 'theirs' && (gateways += 1) > maxGateways;
    const status = valueAt(json, ['status']);
    return {
      kind,
      ...place,
      text: textFor(isSpare ? withValue(json, classOf, 'theirs') : json, random, aim),
      ...(status === undefined ? {} : { status: textFor({ status }, random, aim) }),
    };
  });
}

const classOf = ['spec', 'gatewayClassName'];

function textFor(json: unknown, random: Random, { namespaces: [shop, infra] }: Aim): string {
  return textOf(json, random).replaceAll('"shop"', `"${shop}"`).replaceAll('"infra"', `"${infra}"`);
}

/** A good object with up to three parts replaced. */
function damaged(good: unknown, random: Random): unknown {
  let json = good;
  for (let left = random.pick([1, 1, 2, 3]); left > 0; left -= 1) {
    const places = placesIn(json).filter(([part]) => part !== 'metadata' && part !== 'kind' && part !== 'apiVersion');
    if (places.length > 0) json = withValue(json, random.pick(places), anyJson(random));
  }
  return json;
}

/** Of every other object the parents are the healthy Gateway, as far as there is a place for them. */
function aimed(json: unknown, random: Random, { gateway, namespaces: [, namespace] }: Aim): unknown {
  if (random.chance(0.5)) return json;
  const parent = { name: gateway, namespace };
  switch (valueAt(json, ['kind'])) {
    case 'HTTPRoute':
    case 'GRPCRoute':
      return withValue(json, ['spec', 'parentRefs'], [parent, ...listOf(valueAt(json, ['spec', 'parentRefs']))]);
    case 'ListenerSet':
      return withValue(json, ['spec', 'parentRef'], parent);
    default:
      return json;
  }
}

interface Identity {
  readonly random: Random;
  readonly index: number;
  readonly aim: Aim;
}

/** What the API server insists on, whatever the schema: kind, version, and metadata of its own form. */
function withIdentity(
  json: unknown,
  { random, index, aim }: Identity,
): Omit<HostileObject, 'text' | 'status'> & { readonly json: object } {
  const body = typeof json === 'object' && json !== null && !Array.isArray(json) ? json : { spec: json };
  const given = valueAt(body, ['kind']);
  const kind = kinds.find((one) => one === given) ?? random.pick(kinds);
  const { group, plural, namespaced } = tables[kind];
  const apiVersion = group === '' ? 'v1' : `${group}/${beta.has(kind) && random.chance(0.3) ? 'v1beta1' : 'v1'}`;
  const name = nameOf(index);
  const namespace = random.pick(aim.namespaces);
  const metadata = {
    name,
    ...(namespaced ? { namespace } : {}),
    labels: {
      [hostileLabel]: '',
      ...(kind === 'EndpointSlice' ? { 'kubernetes.io/service-name': random.pick(['cart', 'stock']) } : {}),
    },
    annotations: { 'example.net/text': anyText(random).slice(0, 10_000) },
  };
  const collection = `/${group === '' ? 'api' : 'apis'}/${apiVersion}${namespaced ? `/namespaces/${namespace}` : ''}/${plural}`;
  return { kind, collection, name, json: { ...body, apiVersion, kind, metadata } };
}

/** Now and then as long as names may be. */
function nameOf(index: number): string {
  const name = `hostile-${index}`;
  return index % 50 === 0 ? `${name}.${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.`.padEnd(253, 'd') : name;
}

function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [];
}
