import { createSocket } from 'node:dgram';
import type { Socket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, expect, test } from '@jest/globals';
import { receivedInTurn } from '../../../../src/proxy/sockets/datagrams-in-turns.ts';

const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.close();
});

async function bound(): Promise<Socket> {
  const socket = createSocket('udp4');
  sockets.push(socket);
  await once(socket.bind(0, '127.0.0.1'), 'listening');
  return socket;
}

test('sockets with many datagrams go on after a turn, and get all of them', async () => {
  const receivers = await Promise.all(Array.from({ length: 20 }, bound));
  const sender = await bound();
  const turns: number[] = [];
  let inTurn = 0;
  const endTurn = (): void => {
    turns.push(inTurn);
    inTurn = 0;
  };
  let left = receivers.length * 32;
  const all = Promise.withResolvers<void>();
  for (const receiver of receivers)
    receiver.on('message', () => {
      if (inTurn === 0) setImmediate(endTurn);
      inTurn += 1;
      left -= 1;
      if (left === 0) setImmediate(all.resolve);
      receivedInTurn(receiver);
    });
  // The kernel has them all before anything is received.
  for (const receiver of receivers)
    for (let count = 0; count < 32; count += 1) sender.send('x', receiver.address().port, '127.0.0.1');
  await all.promise;
  // One of each socket is received before it stops.
  expect(Math.max(...turns)).toBeLessThanOrEqual(256 + receivers.length);
  expect(turns.reduce((sum, count) => sum + count, 0)).toBe(640);
});

test('a socket that is closed while it waits is passed over', async () => {
  const [closed, open, sender] = [createSocket('udp4'), await bound(), await bound()];
  await once(closed.bind(0, '127.0.0.1'), 'listening');
  for (let count = 0; count < 300; count += 1) receivedInTurn(count % 2 === 0 ? closed : open);
  closed.close();
  const received = once(open, 'message');
  sender.send('x', open.address().port, '127.0.0.1');
  expect(await received).toEqual([Buffer.from('x'), expect.anything()]);
});
