import type { Socket } from 'node:dgram';
import { NextTurn } from '../../time/next-turn.ts';
import { receiverOf } from './direct-datagrams.ts';

/**
 * Datagrams from all backends in one turn of the event loop, before further ones wait in the kernel. Libuv polls again and again, up to
 * 48 times, while 1,024 sockets have something to read, and receives up to 32 datagrams of each. All others would wait for seconds.
 */
const datagramsPerTurn = 256;

/** Sockets that receive nothing until a later turn, in order of arrival. */
const waiting: Socket[] = [];
let received = 0;
const next = new NextTurn(beginTurn);

/** A socket has received a datagram. Beyond the limit, it receives the next one in a later turn. */
export function receivedInTurn(socket: Socket): void {
  received += 1;
  next.request();
  if (received <= datagramsPerTurn) return;
  const receiver = receiverOf(socket);
  if (receiver === undefined) return;
  receiver.recvStop();
  waiting.push(socket);
}

function beginTurn(): void {
  received = 0;
  for (const socket of waiting.splice(0, datagramsPerTurn)) receiverOf(socket)?.recvStart();
  if (waiting.length > 0) next.request();
}
