import { afterEach, expect, test } from '@jest/globals';
import { closeBackends } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { gatewayObjects, serviceObjects } from '../support/standalone-objects.ts';
import { whileServing } from './support/bystander.ts';
import { startHostileBackends } from './support/responses-backends.ts';
import type { HostileBackends } from './support/responses-backends.ts';
import { Clients } from './support/responses-clients.ts';
import type { Outcome } from './support/responses-clients.ts';
import { http1Plan, http2Plan, tagOf } from './support/responses-grammar.ts';
import type { Plan } from './support/responses-grammar.ts';
import { isFull, scaled } from './support/scale.ts';
import { gatewayHost, startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

let target: Target | undefined;
afterEach(async () => {
  await target?.stop();
  await closeBackends();
});

function route(name: string, rule: string, kind = 'HTTPRoute'): string {
  return `
---
apiVersion: gateway.networking.k8s.io/v1
kind: ${kind}
metadata: { name: ${name}, namespace: shop }
spec:
  parentRefs: [{ name: web, namespace: shop }]
  hostnames: [${name}.test]
  rules: [${rule}]
`;
}

function objects(listener: number, { http1, http2, good }: HostileBackends): string {
  const mirror =
    '[{ type: RequestMirror, requestMirror: { backendRef: { name: http1, port: 80 } } }, { type: RequestMirror, requestMirror: { backendRef: { name: http2, port: 80 } } }]';
  return `${gatewayObjects({ name: 'web', namespace: 'shop' }, `{ name: http, port: ${listener}, protocol: HTTP }`)}
${serviceObjects({ name: 'http1', endpoint: http1.port })}${serviceObjects({ name: 'http2', endpoint: http2.port, appProtocol: 'kubernetes.io/h2c' })}${serviceObjects({ name: 'good', endpoint: good.port })}
${route('http1', '{ timeouts: { request: 500ms }, backendRefs: [{ name: http1, port: 80 }] }')}
${route('http2', '{ timeouts: { request: 500ms }, backendRefs: [{ name: http2, port: 80 }] }')}
${route('good', '{ backendRefs: [{ name: good, port: 80 }] }')}
${route('mirror', `{ filters: ${mirror}, backendRefs: [{ name: good, port: 80 }] }`)}
${route('retry', '{ retry: { attempts: 2, codes: [503, 404], backoff: 1ms }, timeouts: { request: 500ms }, backendRefs: [{ name: http1, port: 80 }] }')}
${route('grpc', '{ backendRefs: [{ name: http2, port: 80 }] }', 'GRPCRoute')}
`;
}

interface Way {
  send(clients: Clients, id: number): Promise<Outcome>;
  /** What the backend does; `undefined` where the response comes from another one. */
  plan?(id: number): Plan;
}

const ways: readonly Way[] = [
  { send: (clients, id) => clients.http1('http1.test', id, 'get'), plan: http1Plan },
  { send: (clients, id) => clients.http1('http1.test', id, 'get'), plan: http1Plan },
  { send: (clients, id) => clients.http2('http1.test', id, 'get'), plan: http1Plan },
  { send: (clients, id) => clients.http2('http1.test', id, 'get'), plan: http1Plan },
  { send: (clients, id) => clients.http1('http2.test', id, 'post'), plan: (id) => http2Plan(id, 1) },
  { send: (clients, id) => clients.http2('http2.test', id, 'call'), plan: (id) => http2Plan(id, 1) },
  { send: (clients, id) => clients.http2('grpc.test', id, 'call'), plan: (id) => http2Plan(id, 1) },
  { send: (clients, id) => clients.http1('retry.test', id, 'get'), plan: http1Plan },
  {
    send: (clients, id) => clients.http1('mirror.test', id, 'post'),
    plan: (id) => ({ pieces: [], end: 'keep', outcome: { body: tagOf(id) } }),
  },
  { send: (clients, id) => clients.http1('http1.test', id, 'upgrade') },
  { send: (clients, id) => clients.http2('http1.test', id, 'websocket') },
];

/** What is wrong with what a client got; `undefined` where nothing is. */
function judge(id: number, outcome: Outcome, plan: Plan | undefined): string | undefined {
  const tag = tagOf(id);
  if (outcome.malformed !== undefined) return `malformed in HTTP/2: ${outcome.malformed}`;
  if (outcome.isOwn) return undefined;
  const foreign = [...outcome.tags, ...(outcome.body.match(/<\d+>/g) ?? [])].find(
    (one) => /^<\d+>$/.test(one) && one !== tag,
  );
  if (foreign !== undefined) return `request ${id} got ${foreign}`;
  if (plan === undefined || !outcome.isComplete) return undefined;
  if (plan.outcome === 'broken') return `request ${id}: a truncated response looked complete`;
  if (plan.outcome !== 'either' && plan.outcome.body !== outcome.body)
    return `request ${id}: ${outcome.body.length} bytes of ${plan.outcome.body.length}`;
  return undefined;
}

test(
  'no response of a backend ends the data plane, reaches another client, or looks whole where it is not',
  async () => {
    const backends = await startHostileBackends();
    const listener = await freePort();
    target = await startTarget(objects(listener, backends));
    const attacked = target;
    const clients = new Clients(listener);
    const wrong: string[] = [];
    const count = scaled(600, 100_000);
    let next = 1;
    let served = 0;
    let expected = 0;
    let memory = 0;
    const worker = async (): Promise<void> => {
      while (next <= count) {
        const id = next;
        next += 1;
        const way = ways[id % ways.length] as Way;
        const plan = way.plan?.(id);
        const outcome = await way.send(clients, id);
        const fault = judge(id, outcome, plan);
        if (fault !== undefined) wrong.push(fault);
        if (typeof plan?.outcome === 'object') expected += 1;
        if (typeof plan?.outcome === 'object' && outcome.isComplete && !outcome.isOwn) served += 1;
        if (id % 1_000 === 0) memory = Math.max(memory, attacked.held().memory);
      }
    };
    const witness = await whileServing(
      { host: gatewayHost, port: listener },
      'good.test',
      async () => {
        await Promise.all(Array.from({ length: 48 }, worker));
      },
      50,
    );
    clients.close();

    expect(attacked.isAlive()).toBe(true);
    expect(wrong).toEqual([]);
    expect(clients.sessionErrors).toEqual([]);
    expect(witness.failures).toEqual([]);
    // A proxy that refuses everything would pass. Sound responses are lost only where a malformed one ends their HTTP/2 connection.
    expect(served / expected).toBeGreaterThan(0.5);
    for (const origin of ['exchange', 'exception', 'rejection'])
      expect([origin, await attacked.metric('sallyport_internal_errors_total', `{origin="${origin}"}`)]).toEqual([
        origin,
        0,
      ]);
    await eventually(async () => expect(await attacked.metric('sallyport_proxy_open_requests')).toBe(0));
    if (isFull) expect(memory).toBeLessThan(384);
  },
  scaled(60_000, 1_800_000),
);
