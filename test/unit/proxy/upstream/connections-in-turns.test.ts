import type { Socket } from 'node:net';
import { duplexPair } from 'node:stream';
import { expect, test } from '@jest/globals';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import type { ResponseReceiver } from '../../../../src/proxy/messages/forwarder.ts';
import { BackendTurns } from '../../../../src/proxy/sockets/backend-turns.ts';
import { Http1Call, Http1Connection } from '../../../../src/proxy/upstream/http1-connection.ts';
import { Http2Connection } from '../../../../src/proxy/upstream/http2-connection.ts';
import { eventually } from '../../../support/eventually.ts';
import { frame } from '../../../support/http2.ts';
import { throwFault } from '../../../support/proxy.ts';
import { roomyAccount, upstreamRequest } from '../../../support/upstream-request.ts';

/** Turns that never come, except by `pass`. */
class LaterTurns extends BackendTurns {
  private readonly held: (() => void)[] = [];

  override of(_socket: Socket, handle: (bytes: Buffer) => void): (bytes: Buffer) => void {
    return (bytes) => {
      const copy = Buffer.from(bytes);
      this.held.push(() => handle(copy));
    };
  }

  get size(): number {
    return this.held.length;
  }

  pass(): void {
    for (const handle of this.held.splice(0)) handle();
  }
}

type Connect = (socket: Socket, turns: BackendTurns, told: string[]) => unknown;

const overHttp1: Connect = (socket, turns, told) => {
  const connection = new Http1Connection(socket, 4_096, turns, {
    done: () => undefined,
    freed: () => undefined,
    closed: () => undefined,
    exceeded: () => undefined,
    account: roomyAccount,
    fault: throwFault,
  });
  const receiver: ResponseReceiver = {
    onConnected: () => undefined,
    onInformation: () => undefined,
    onHead: ({ status }) => void told.push(`head ${status}`),
    onData: () => undefined,
    onEnd: () => undefined,
    onFailure: () => undefined,
  };
  connection.take(new Http1Call(upstreamRequest({}), receiver, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
};

const overHttp2: Connect = (socket, turns, told) =>
  new Http2Connection(socket, defaultLimits, turns, {
    done: () => undefined,
    ready: () => undefined,
    hasRoom: () => void told.push('room'),
    ended: () => undefined,
    exceeded: () => undefined,
    account: roomyAccount,
    fault: throwFault,
  });

// Thousands of responses that arrived together delayed all others until the last one was forwarded.
test.each([
  { connect: overHttp1, bytes: Buffer.from('HTTP/1.1 200 OK\r\n\r\n'), effect: 'head 200', version: 'HTTP/1.1' },
  { connect: overHttp2, bytes: frame('settings', 0, 0), effect: 'room', version: 'HTTP/2' },
])('bytes of a backend over $version wait for the turns of the backend', async ({ connect, bytes, effect }) => {
  const [near, backend] = duplexPair();
  const turns = new LaterTurns();
  const told: string[] = [];
  connect(near as Socket, turns, told);
  backend.resume();
  backend.write(bytes);
  await eventually(() => expect(turns.size).toBe(1));
  expect(told).toEqual([]);
  turns.pass();
  await eventually(() => expect(told).toEqual([effect]));
});
