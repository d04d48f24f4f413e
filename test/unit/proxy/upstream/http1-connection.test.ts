import { duplexPair, type Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import type { ResponseReceiver, UpstreamRequest } from '../../../../src/proxy/messages/forwarder.ts';
import { Http1Call, Http1Connection } from '../../../../src/proxy/upstream/http1-connection.ts';
import { BackendTurns } from '../../../../src/proxy/sockets/backend-turns.ts';
import { eventually } from '../../../support/eventually.ts';
import { throwFault } from '../../../support/proxy.ts';
import { roomyAccount, upstreamRequest } from '../../../support/upstream-request.ts';

const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

/** A connection to a backend that the test plays, and what the connection told. */
function connected() {
  const [near, backend] = duplexPair();
  const told: string[] = [];
  const connection = new Http1Connection(near as Socket, 4_096, new BackendTurns(), {
    done: () => undefined,
    freed: () => void told.push('freed'),
    closed: () => void told.push('closed'),
    exceeded: () => void told.push('exceeded'),
    account: roomyAccount,
    fault: throwFault,
  });
  backend.resume();
  const receiver: ResponseReceiver = {
    onConnected: () => undefined,
    onInformation: () => undefined,
    onHead: ({ status }) => void told.push(`head ${status}`),
    onData: (chunk) => void told.push(`data ${chunk.toString()}`),
    onEnd: () => void told.push('end'),
    onFailure: (failure) => void told.push(failure),
  };
  const ask = (content?: Buffer): UpstreamRequest => {
    const request = upstreamRequest({ content });
    connection.take(new Http1Call(request, receiver, 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'));
    return request;
  };
  return { backend, near, told, connection, ask };
}

async function answered(backend: Duplex, told: readonly string[]): Promise<void> {
  backend.write(ok);
  await eventually(() => expect(told).toEqual(['head 200', 'data ok', 'freed', 'end']));
}

describe('an idle connection to a backend', () => {
  test('carries another request', async () => {
    const { backend, told, connection, ask } = connected();
    ask();
    await answered(backend, told);
    expect(connection.isUsable(performance.now())).toBe(true);
    ask();
    backend.write(ok);
    await eventually(() => expect(told.slice(4)).toEqual(['head 200', 'data ok', 'freed', 'end']));
  });

  test.each([
    ['a whole answer', ok],
    ['a few bytes', 'x'],
    ['the begin of an answer', 'HTTP/1.1 200'],
  ])('is closed when the backend sends %s that nobody requested', async (_, bytes) => {
    const { backend, near, told, connection, ask } = connected();
    ask();
    await answered(backend, told);
    backend.write(bytes);
    await eventually(() => expect(told.slice(4)).toEqual(['closed']));
    expect(near.destroyed).toBe(true);
    expect(connection.isUsable(performance.now())).toBe(false);
  });

  test('is closed when the answer before it had more bytes than it announced', async () => {
    const { backend, near, told, ask } = connected();
    ask();
    backend.write(`${ok}more`);
    await eventually(() => expect(told).toEqual(['head 200', 'data ok', 'end', 'closed']));
    expect(near.destroyed).toBe(true);
  });

  test('that breaks before the answer to its next request is reported as stale', async () => {
    const { backend, told, ask } = connected();
    ask();
    await answered(backend, told);
    ask();
    backend.end();
    await eventually(() => expect(told.slice(4)).toEqual(['stale', 'closed']));
  });
});

test('a new connection that breaks before an answer is reported as reset', async () => {
  const { backend, told, ask } = connected();
  ask();
  backend.end();
  await eventually(() => expect(told).toEqual(['reset', 'closed']));
});

test('a body that was sent is not retained until the answer', async () => {
  const { backend, told, ask } = connected();
  backend.pause();
  const request = ask(Buffer.from('body'));
  expect(request.content).toBeUndefined();
  expect(String(backend.read())).toContain('body');
  await answered(backend, told);
});
