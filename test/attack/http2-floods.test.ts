import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { closeBackends, startBackend } from '../support/backends.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/program.ts';
import { closeProxies, send, startProxyTo } from '../support/proxy.ts';
import { gatewayObjects, serviceObjects } from '../support/standalone-objects.ts';
import { warmUp, whileServing } from './support/bystander.ts';
import { attack } from './support/http2-attacker.ts';
import { floods } from './support/http2-frames.ts';
import { startLargeBackend } from './support/large-backend.ts';
import { runAttacker } from './support/program.ts';
import { isFull } from './support/scale.ts';
import { startTarget } from './support/target.ts';
import type { Target } from './support/target.ts';

const large = Buffer.alloc(1024 * 1024);

/** A backend whose `/large` is a mebibyte. */
const startLarge = () =>
  startBackend(
    (request, response) => void request.resume().on('end', () => response.end(request.url === '/large' ? large : 'ok')),
  );

/** `sallyport run` gives this one to the first Gateway. */
const host = '127.0.1.1';
/** Milliseconds of each flood. */
const duration = 5_000;

const inSmall = isFull ? describe.skip : describe;
const inFull = isFull ? describe : describe.skip;

inSmall('a flood of one connection leaves nothing behind', () => {
  afterEach(closeProxies);
  afterEach(closeBackends);

  test.each(Object.entries(floods))('%s', async (_name, flood) => {
    const { port, proxy } = await startProxyTo((await startLarge()).port);
    await attack(flood, { host: '127.0.0.1', port }, 200, 1);
    expect((await send(port, '/')).status).toBe(200);
    await eventually(() => expect(proxy.counters()).toMatchObject({ openRequests: 0, openConnections: 0 }));
  });
});

inFull('while a flood of 20 connections goes on, others are served', () => {
  let target: Target;
  let port: number;
  let backends: Awaited<ReturnType<typeof startLargeBackend>>[] = [];
  beforeAll(async () => {
    port = await freePort();
    backends = await Promise.all([startLargeBackend(), startLargeBackend()]);
    target = await startTarget(objects(port, backends));
    await warmUp({ host, port }, 'a');
  });
  afterAll(() => target.stop());
  afterAll(() => {
    for (const backend of backends) backend.stop();
  });

  test.each(Object.keys(floods))('%s', async (name) => {
    const before = target.held();
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, target.held().memory)), 100);
    const witness = await whileServing({ host, port }, 'a', async () => {
      const options = [host, String(port), String(duration), '20'];
      expect(await runAttacker('test/attack/support/http2-attacker.ts', name, ...options)).toBe(0);
    });
    clearInterval(watching);
    process.stdout.write(
      `${name}: p99 ${witness.p99.toFixed(0)} ms, ${witness.failures.length} of ${witness.sent} failed, at most ${most.toFixed(0)} MiB\n`,
    );
    expect(target.isAlive()).toBe(true);
    expect(witness.failures).toEqual([]);
    expect(witness.p99).toBeLessThan(250);
    expect(most).toBeLessThan(512);
    await eventually(async () =>
      expect(await target.metric('sallyport_proxy_open_connections')).toBeLessThanOrEqual(1),
    );
    await eventually(() => expect(target.held().descriptors).toBeLessThanOrEqual(before.descriptors + 8));
    const { cpu } = target.held();
    await delay(1_000);
    expect(target.held().cpu - cpu).toBeLessThan(0.3);
  });
});

/**
 * One Gateway, and a route to two backends on loopback. One of them is for `/large` alone: 512 clients that ask the backend itself for that
 * many mebibytes delay its other clients by 180 to 400 ms, whatever the data plane does.
 */
function objects(listener: number, [ordinary, large]: readonly { readonly port: number }[]): string {
  return `${gatewayObjects({ name: 'web', namespace: 'shop' }, `{ name: http, port: ${listener}, protocol: HTTP }`)}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: app, namespace: shop }
spec:
  parentRefs: [{ name: web }]
  rules:
  - { matches: [{ path: { value: /large } }], backendRefs: [{ name: large, port: 80 }] }
  - { backendRefs: [{ name: app, port: 80 }] }
${serviceObjects({ name: 'app', endpoint: ordinary?.port ?? 0 })}${serviceObjects({ name: 'large', endpoint: large?.port ?? 0 })}`;
}
