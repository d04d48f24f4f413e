import { describe, expect, test } from '@jest/globals';
import { allVariants } from '../../../../src/core/schema/availability.ts';
import {
  findKind,
  isKindName,
  isSchemaKind,
  knownKinds,
  schemaTables,
  type ViewOf,
} from '../../../../src/core/schema/index.ts';
import type { Node } from '../../../../src/core/schema/node.ts';
import type { KindTable } from '../../../../src/core/schema/tables/table.ts';

describe('kinds', () => {
  test('are found by group and kind, evaluated or not', () => {
    expect(findKind('gateway.networking.k8s.io', 'HTTPRoute')).toMatchObject({
      plural: 'httproutes',
      namespaced: true,
    });
    expect(findKind('gateway.networking.k8s.io', 'GatewayClass')).toMatchObject({
      plural: 'gatewayclasses',
      namespaced: false,
    });
    expect(findKind('', 'Service')).toMatchObject({ plural: 'services', namespaced: true });
    expect(findKind('discovery.k8s.io', 'EndpointSlice')).toMatchObject({ plural: 'endpointslices', namespaced: true });
    expect(findKind('gateway.networking.x-k8s.io', 'XMesh')).toMatchObject({ plural: 'xmeshes', namespaced: false });
    expect(findKind('example.com', 'HTTPRoute')).toBeUndefined();
    expect(findKind('', 'constructor')).toBeUndefined();
  });

  test('only those with a table are kind names', () => {
    expect(isKindName('Gateway')).toBe(true);
    expect(isKindName('XMesh')).toBe(false);
    expect(isKindName('constructor')).toBe(false);
    expect(isSchemaKind('XMesh')).toBe(true);
    expect(isSchemaKind('constructor')).toBe(false);
    expect(knownKinds).toHaveLength(3);
    expect(knownKinds.filter(({ kind }) => isKindName(kind))).toEqual([]);
  });

  test('every table stands under its own kind', () => {
    for (const [name, table] of Object.entries(schemaTables)) expect(table.kind).toBe(name);
  });

  test('every pattern says what to write instead', () => {
    const bodies = Object.values<KindTable>(schemaTables).flatMap((table) =>
      [table, ...table.versions.flatMap(allVariants)].map((owner) => ({ table, body: owner.body ?? table.body })),
    );
    const silent = bodies
      .flatMap(({ table, body }) => strings(body, [table.kind]))
      .filter(({ node }) => node.pattern !== undefined && node.form === undefined);
    expect(silent.map(({ path }) => path.join('.'))).toEqual([]);
  });
});

type StringNode = Extract<Node, { type: 'string' }>;

function strings(
  node: Node,
  path: readonly string[],
): readonly { readonly node: StringNode; readonly path: readonly string[] }[] {
  if (node.type === 'string') return [{ node, path }];
  if (node.type === 'list') return strings(node.items, path);
  if (node.type === 'map') return strings(node.values, path);
  if (node.type !== 'object') return [];
  return Object.entries(node.fields).flatMap(([name, field]) =>
    allVariants(field).flatMap((child) => strings(child, [...path, name])),
  );
}

// Judged by the type checker: a line fails to compile where a field is missing or has another type.
describe('views have the types of their tables', () => {
  test('whatever the channel', () => {
    const route: ViewOf<'HTTPRoute'> = {
      spec: { rules: [{ retry: { attempts: 1 }, sessionPersistence: { cookie: { name: 'a' } } }] },
    };
    const attempts: number | undefined = route.spec?.rules?.[0]?.retry?.attempts;
    expect(attempts).toBe(1);
  });

  test('also a number or a name, and a map', () => {
    const service: ViewOf<'Service'> = { spec: { ports: [{ targetPort: 'http' }, { targetPort: 80 }] } };
    const target: string | number | undefined = service.spec?.ports?.[0]?.targetPort;
    const configMap: ViewOf<'ConfigMap'> = { data: { key: 'value' } };
    expect([target, configMap.data?.['key']]).toEqual(['http', 'value']);
  });

  test('and no other', () => {
    // @ts-expect-error a port is a number
    const wrong: ViewOf<'HTTPRoute'> = { spec: { parentRefs: [{ port: '80' }] } };
    expect(wrong.spec?.parentRefs).toHaveLength(1);
  });
});
