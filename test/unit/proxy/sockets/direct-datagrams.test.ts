import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { sendAtOnce, sendsDirectly } from '../../../../src/proxy/sockets/direct-datagrams.ts';
import { eventually } from '../../../support/eventually.ts';

const open: Socket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.close();
});

/** A bound socket, and the datagrams that it receives. */
async function bound(
  type: 'udp4' | 'udp6' = 'udp4',
): Promise<{ readonly socket: Socket; readonly received: string[] }> {
  const received: string[] = [];
  const socket = createSocket(type).on('message', (message) => received.push(message.toString()));
  socket.bind(0, type === 'udp4' ? '127.0.0.1' : '::1');
  await once(socket, 'listening');
  open.push(socket);
  return { socket, received };
}

interface Handle {
  send: (request: { oncomplete(): void }) => number;
}

function handleOf(socket: Socket): Handle {
  const key = Object.getOwnPropertySymbols(socket).find(({ description }) => description === 'state symbol');
  const state = (socket as unknown as Record<symbol, { readonly handle: Handle }>)[key ?? Symbol('none')];
  if (state === undefined) throw new Error('state not found');
  return state.handle;
}

// If this test fails with another release of Node, data planes with it send by `Socket.send`, and take more processor time.
test('Node still has the parts that direct access needs', () => {
  expect(sendsDirectly).toBe(true);
});

describe('datagrams', () => {
  test.each(['udp4', 'udp6'] as const)('are sent at once, connected or not (%s)', async (type) => {
    const [near, far] = [await bound(type), await bound(type)];
    expect(sendAtOnce(near.socket, Buffer.from('addressed'), far.socket.address())).toBe('over');
    near.socket.connect(far.socket.address().port, far.socket.address().address);
    await once(near.socket, 'connect');
    expect(sendAtOnce(near.socket, Buffer.from('connected'), undefined)).toBe('over');
    expect(sendAtOnce(near.socket, Buffer.alloc(0), undefined)).toBe('over');
    await eventually(() => expect(far.received).toEqual(['addressed', 'connected', '']));
  });

  test('that cannot be sent are lost', async () => {
    const [near, far] = [await bound(), await bound()];
    const to = far.socket.address();
    expect(sendAtOnce(near.socket, Buffer.alloc(70_000), to)).toBe('over');
    expect(sendAtOnce(near.socket, Buffer.from('x'), { address: '127.0.0.1', port: 0 })).toBe('over');
    expect(sendAtOnce(near.socket, Buffer.from('after'), to)).toBe('over');
    await eventually(() => expect(far.received).toEqual(['after']));
  });

  test('that wait are kept until they are sent, while others follow', async () => {
    const [near, far] = [await bound(), await bound()];
    const handle = handleOf(near.socket);
    const requests: { oncomplete(): void }[] = [];
    handle.send = (request) => {
      requests.push(request);
      return 0;
    };
    const waiting = sendAtOnce(near.socket, Buffer.from('x'), far.socket.address());
    sendAtOnce(near.socket, Buffer.from('x'), far.socket.address());
    expect(new Set(requests).size).toBe(2);
    if (typeof waiting === 'string') throw new Error(waiting);
    const completed: boolean[] = [];
    waiting.completed = () => completed.push(true);
    for (const request of requests) request.oncomplete();
    requests[0]?.oncomplete();
    expect(completed).toEqual([true]);
  });

  test('are left to the socket while it is not ready', async () => {
    const { socket: far } = await bound();
    const message = Buffer.from('x');
    const near = createSocket('udp4');
    expect(sendAtOnce(near, message, far.address())).toBe('not-passed');
    near.connect(far.address().port, '127.0.0.1');
    expect(sendAtOnce(near, message, undefined)).toBe('not-passed');
    await once(near, 'connect');
    // An address is an error on a connected socket.
    expect(sendAtOnce(near, message, far.address())).toBe('not-passed');
    near.close();
    expect(sendAtOnce(near, message, undefined)).toBe('not-passed');
  });
});
