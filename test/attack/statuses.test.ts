import { describe, expect, test } from '@jest/globals';
import { examine, type Bundle, type SchemaKind } from '../../src/core/schema/index.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { mergeStatus } from '../../src/controller/merge-status.ts';
import type { WireObject } from '../../src/controller/ports.ts';
import { evaluate, ourClass } from '../support/evaluation.ts';
import { largestObjects, storedBytes } from './support/largest.ts';
import { isFull } from './support/scale.ts';

const newest: Bundle = { minor: '1.7', channel: 'experimental' };
const context = { controllerName: 'sallyport.dev/gateway-controller', now: '2026-01-01T00:00:00Z' };

/** A Gateway with as many listeners as it may have, in which every route finds its parent. */
const gateway = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'Gateway',
  metadata: { name: 'all', namespace: 'shop' },
  spec: {
    gatewayClassName: 'sallyport',
    listeners: Array.from({ length: 64 }, (_, index) => ({
      name: `${index}`.padStart(253, 'l'),
      port: 80 + index,
      protocol: index % 2 === 0 ? 'HTTP' : 'TLS',
    })),
  },
};

type Json = Record<string, unknown> & { spec?: Record<string, unknown> };

/** The object as one of ours: its references to a class and to parents name ours. */
function ours(json: Json): Json {
  const { spec } = json;
  if (spec === undefined) return json;
  const parents = Array.isArray(spec['parentRefs'])
    ? {
        parentRefs: Array.from({ length: 32 }, (_, index) => ({
          name: 'all',
          sectionName: gateway.spec.listeners[index]?.name,
        })),
      }
    : {};
  const parent = 'parentRef' in spec ? { parentRef: { name: 'all' } } : {};
  const target = 'gatewayClassName' in spec ? { gatewayClassName: 'sallyport' } : {};
  return { ...json, spec: { ...spec, ...parents, ...parent, ...target } };
}

const kinds: readonly SchemaKind[] = [
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
  'UDPRoute',
];

/** The problems of a status. An object has at most 100 problems, so the spec is left out. */
function problemsOf(kind: SchemaKind, { apiVersion, metadata }: Json, status: unknown) {
  const json = { apiVersion, kind, metadata, spec: {}, status };
  const { problems } = examine({ kind, apiVersion: String(apiVersion), json }, newest);
  return problems.filter(({ path }) => path[0] === 'status');
}

describe('the statuses of the largest objects', () => {
  test.each(kinds)('%s: the API server accepts and stores them', (kind) => {
    const all = [...largestObjects(kind, newest)].filter(({ place }) => place.startsWith('everything'));
    expect(all.length).toBeGreaterThan(0);
    let written = 0;
    for (const object of isFull ? all : all.filter(({ place }) => place === 'everything, 16 each')) {
      const json = ours(object.make());
      const { kernel } = evaluate([ourClass, gateway, json]);
      for (const [key, status] of kernel.emitted(statuses)) {
        if (!key.startsWith(`${kind}/`) || !key.endsWith('/large')) continue;
        const merged = mergeStatus(json as unknown as WireObject, status, context);
        expect(problemsOf(kind, json, merged)).toEqual([]);
        expect(JSON.stringify(merged).length).toBeLessThan(storedBytes / 10);
        written += 1;
      }
    }
    expect(written).toBeGreaterThan(0);
  });

  test('a message that is too long is a problem', () => {
    const condition = { type: 'Accepted', status: 'True', reason: 'Accepted', lastTransitionTime: context.now };
    const listener = { name: 'web', attachedRoutes: 0, supportedKinds: [] };
    const status = { listeners: [{ ...listener, conditions: [{ ...condition, message: 'x'.repeat(32_769) }] }] };
    expect(problemsOf('Gateway', gateway as Json, status)).toHaveLength(1);
  });
});
