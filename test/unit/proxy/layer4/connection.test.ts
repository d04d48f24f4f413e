import { afterEach, expect, test } from '@jest/globals';
import { signTrace, traceBytes, traceKeyOf } from '../../../../src/channel/trace.ts';
import { createCounters } from '../../../../src/proxy/counters.ts';
import type { DataPlane } from '../../../../src/proxy/data-plane.ts';
import { Layer4Connection } from '../../../../src/proxy/layer4/connection.ts';
import { Tracing } from '../../../../src/proxy/messages/tracing.ts';
import { closeBackends, startRawBackend } from '../../../support/backends.ts';
import { tcp } from '../../../support/layer4.ts';
import { openRaw } from '../../../support/proxy.ts';

afterEach(closeBackends);

test('a connection that ends at once with a spent trace arrives before it leaves', async () => {
  const key = traceKeyOf('secret', 'infra/gateway');
  const tracing = new Tracing();
  tracing.setKey(key);
  const counters = createCounters();
  const told: string[] = [];
  const ownConnections = { arrive: () => told.push('arrive'), leave: () => told.push('leave') };
  // A connection that ends at once needs no more of it.
  const plane = { tracing, counters, ownConnections } as unknown as DataPlane;
  const traced = { protocol: 'TCP', port: tcp.port, serverName: '' } as const;
  const value = signTrace(key, traced, Date.now());
  tracing.recognize(traced, value);
  const { promise: started, resolve } = Promise.withResolvers<void>();
  const server = await startRawBackend((socket) => {
    socket.pause().once('readable', () => {
      const address = { host: '127.0.0.1', port: 1 };
      const origin = { client: address, destination: address };
      new Layer4Connection(plane, {
        socket,
        transport: 'tcp',
        origin,
        listener: tcp,
        serverName: '',
        protocols: [],
      }).start();
      resolve();
    });
  });
  const client = openRaw(server.port);
  client.write(traceBytes(value));
  await started;
  expect(told).toEqual(['arrive', 'leave']);
  expect(counters.layer4).toMatchObject({ open: { tcp: 0 }, reasons: { trace: 1 } });
  client.destroy();
});
