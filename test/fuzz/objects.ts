import { allVariants } from '../../src/core/schema/availability.ts';
import { schemaTables, type KindTable } from '../../src/core/schema/index.ts';
import type { Node, ObjectNode } from '../../src/core/schema/node.ts';
import type { Random } from '../differential/random.ts';
import { anyJson, anyKey, anyText, lengthOf, textOf } from './values.ts';

const kinds = Object.values<KindTable>(schemaTables);
// Names from a small stock, so that objects meet: that of one case, and those of the world.
const namespaces = ['shop', 'infra', 'default'];
const names = ['cart', 'web', 'ours', 'store', 'allow', 'tls'];

/** The JSON text of a fuzzed value. */
export function fuzzedObject(random: Random): string {
  return textOf(fuzzedValue(random), random);
}

/**
 * A value that a seed determines: an object shaped by the schema of some kind of any bundle, with some values of wrong
 * types, hostile texts, unknown fields; now and then an arbitrary value. `textOf` makes JSON of it.
 */
export function fuzzedValue(random: Random): unknown {
  if (random.chance(0.05)) return anyJson(random);
  const table = random.pick(
    random.chance(0.6)
      ? kinds.filter(({ kind }) => /^(?:HTTPRoute|Gateway|GatewayClass|ReferenceGrant|ListenerSet)$/.test(kind))
      : kinds,
  );
  const version = random.pick(allVersions(table));
  // Some objects are nearly right, or nothing would get past the first check.
  const wrongness = random.pick([0, 0.005, 0.02, 0.1]);
  const body = objectFor(version.body ?? table.body, { random, wrongness });
  return {
    apiVersion: table.group === '' ? version.name : `${table.group}/${version.name}`,
    kind: table.kind,
    metadata: metadataFor(random, wrongness),
    ...body,
    ...(random.chance(0.1) ? { status: anyJson(random) } : {}),
    ...(random.chance(wrongness) ? { [random.pick(['apiVersion', 'kind', 'metadata', 'spec'])]: anyJson(random) } : {}),
  };
}

function allVersions(table: KindTable): readonly { readonly name: string; readonly body?: ObjectNode }[] {
  const versions = table.versions.flatMap((version) => allVariants(version));
  return versions.length === 0 ? [{ name: 'v1' }] : versions;
}

function metadataFor(random: Random, wrongness: number): Record<string, unknown> {
  const text = (values: readonly string[]): unknown =>
    random.chance(wrongness) ? anyJson(random) : random.pick(values);
  return {
    name: text(names),
    namespace: text(namespaces),
    ...(random.chance(0.3)
      ? { labels: { 'kubernetes.io/service-name': text(names), [anyKey(random)]: anyText(random) } }
      : {}),
    ...(random.chance(0.1) ? { annotations: anyJson(random) } : {}),
    ...(random.chance(0.2)
      ? { generation: text(['7']), creationTimestamp: text(['2026-01-01T00:00:00Z', 'yesterday']) }
      : {}),
    ...(random.chance(0.02) ? { deletionTimestamp: text(['2026-01-01T00:00:00Z']) } : {}),
  };
}

interface Making {
  readonly random: Random;
  /** How likely each value is another than the schema wants. */
  readonly wrongness: number;
}

function valueFor(node: Node, making: Making): unknown {
  const { random, wrongness } = making;
  if (random.chance(wrongness)) return anyJson(random);
  switch (node.type) {
    case 'string': {
      const known = (node.enum ?? []).flatMap((value) => allVariants<string>(value));
      if (known.length > 0) return random.pick(known);
      return random.chance(0.7) ? random.pick([...names, ...namespaces, ...fitting]) : anyText(random);
    }
    case 'integer': {
      const known = (node.enum ?? []).flatMap((value) => allVariants<number>(value));
      return random.pick(known.length > 0 ? known : [80, 443, 8080, 0, 1, -1, 65_536]);
    }
    case 'boolean':
      return random.chance(0.5);
    case 'intOrString':
      return random.pick([80, 'http']);
    case 'list':
      return Array.from({ length: lengthOf(random) }, () => valueFor(node.items, making));
    case 'map':
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [
          random.chance(0.5) ? 'team' : anyKey(random),
          valueFor(node.values, making),
        ]),
      );
    case 'object':
      return objectFor(node, making);
  }
}

const fitting = [
  'http',
  'a.example.com',
  '*.example.com',
  '/cart',
  'x-version',
  'GET',
  '10s',
  '500ms',
  'sallyport.dev/gateway-controller',
  'gateway.networking.k8s.io',
  'HTTPRoute',
  'Gateway',
  'Service',
  '10.0.0.1',
  'AA==',
];

function objectFor(node: ObjectNode, making: Making): Record<string, unknown> {
  const { random, wrongness } = making;
  const fields = Object.entries(node.fields).filter(([name]) => random.chance(name === 'spec' ? 1 - wrongness : 0.45));
  const made = fields.map(([name, field]): [string, unknown] => [
    name,
    valueFor(random.pick(allVariants(field)), making),
  ]);
  const unknown = random.chance(wrongness) ? [[anyKey(random), anyJson(random)] as const] : [];
  return Object.fromEntries([...made, ...unknown]);
}
