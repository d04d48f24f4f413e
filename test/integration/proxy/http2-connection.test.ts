import { once } from 'node:events';
import { connect } from 'node:net';
import { setImmediate as immediate } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { defaultLimits } from '../../../src/proxy/limits/limits.ts';
import { Http2Connection } from '../../../src/proxy/upstream/http2-connection.ts';
import { closeBackends, startHttp2Backend } from '../../support/backends.ts';
import { BackendTurns } from '../../../src/proxy/sockets/backend-turns.ts';
import { eventually } from '../../support/eventually.ts';
import { roomyAccount } from '../../support/upstream-request.ts';

afterEach(closeBackends);

// A second report would fail the requests that wait for the next connection.
test('a connection that ends with GOAWAY reports its end once, however late it is closed', async () => {
  const backend = await startHttp2Backend(() => undefined);
  const socket = connect(backend.port, '127.0.0.1');
  await once(socket, 'connect');
  const told: string[] = [];
  const connection = new Http2Connection(socket, defaultLimits, new BackendTurns(), {
    done: () => undefined,
    ready: () => undefined,
    hasRoom: () => void told.push('room'),
    ended: (failure) => void told.push(`ended: ${failure}`),
    exceeded: (limit) => void told.push(`exceeded: ${limit}`),
    account: roomyAccount,
    fault: (error) => void told.push(`fault: ${String(error)}`),
  });
  await eventually(() => expect(told).toEqual(['room']));
  backend.sessions[0]?.goaway();
  await eventually(() => expect(told).toEqual(['room', 'ended: connect']));
  expect(connection.room).toBe(0);
  const closed = once(socket, 'close');
  backend.sessions[0]?.destroy();
  await closed;
  for (let turn = 0; turn < 5; turn += 1) await immediate();
  expect(told).toEqual(['room', 'ended: connect']);
});
