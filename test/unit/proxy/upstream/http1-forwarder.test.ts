import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { createCounters } from '../../../../src/proxy/counters.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import type { UpstreamFailure } from '../../../../src/proxy/messages/forwarder.ts';
import { createQuotas } from '../../../../src/proxy/limits/quota.ts';
import { Http1Forwarder } from '../../../../src/proxy/upstream/http1-forwarder.ts';
import { eventually } from '../../../support/eventually.ts';

test('idle connections of several upstreams that are released together are closed a few in each turn', async () => {
  const quotas = createQuotas(defaultLimits, createCounters());
  const forwarder = new Http1Forwarder(defaultLimits, () => undefined, quotas);
  const upstreams = [1, 2, 3].map((port) => ({ host: '127.0.0.1', port }));
  const sockets = upstreams.flatMap((upstream) =>
    Array.from({ length: 50 }, () => {
      const socket = new Socket();
      forwarder.adopt(upstream, socket);
      return socket;
    }),
  );
  const closed = (): number => sockets.filter(({ destroyed }) => destroyed).length;
  for (const upstream of upstreams) forwarder.release(upstream);
  await new Promise((resolve) => void setImmediate(resolve));
  expect(closed()).toBeGreaterThan(0);
  expect(closed()).toBeLessThan(100);
  await eventually(() => expect(closed()).toBe(150));
  await forwarder.close();
});

test('requests whose connections a backend closes together fail a few in each turn', async () => {
  const quotas = createQuotas(defaultLimits, createCounters());
  const forwarder = new Http1Forwarder(defaultLimits, () => undefined, quotas);
  const upstream = { host: '127.0.0.1', port: 1 };
  const failures: UpstreamFailure[] = [];
  const sockets = Array.from({ length: 150 }, () => {
    const socket = new Socket();
    forwarder.adopt(upstream, socket);
    forwarder.forward(
      { client: '127.0.0.1', upstream, method: 'POST', target: '/', fields: [], body: undefined },
      {
        onConnected: () => undefined,
        onInformation: () => undefined,
        onHead: () => undefined,
        onData: () => undefined,
        onEnd: () => undefined,
        onFailure: (failure) => failures.push(failure),
      },
    );
    return socket;
  });
  for (const socket of sockets) socket.destroy();
  // The sockets tell in the first turn that they are closed.
  for (let turn = 0; turn < 2; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
  expect(failures.length).toBeGreaterThan(0);
  expect(failures.length).toBeLessThan(150);
  await eventually(() => expect(failures).toHaveLength(150));
  await forwarder.close();
});
