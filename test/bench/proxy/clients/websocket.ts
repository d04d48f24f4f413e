import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { clientFrame, serverFrame } from '../messages.ts';
import type { Peer } from '../measurement.ts';
import type { Channel, Events, OpenChannels } from './exchanges.ts';

/** WebSocket connections, upgraded from HTTP/1.1. The backend returns each message. */
export function webSockets(count: number, path: string): OpenChannels {
  return async (target, eventsOf) => {
    const sockets: Socket[] = [];
    const opening = Array.from({ length: count }, async (_, position): Promise<Channel> => {
      const { socket, upgraded } = open(target, path, eventsOf(position));
      sockets.push(socket);
      await upgraded;
      return { send: () => void socket.write(clientFrame) };
    });
    return { list: await Promise.all(opening), close: () => sockets.forEach((socket) => socket.destroy()) };
  };
}

function open({ address, name }: Peer, path: string, events: Events): { socket: Socket; upgraded: Promise<void> } {
  const upgraded = Promise.withResolvers<void>();
  const fail = (reason: string): void => {
    const error = new Error(`WebSocket of ${name}: ${reason}`);
    upgraded.reject(error);
    events.onFailure(error);
  };
  let head = '';
  let isUpgraded = false;
  let received = 0;
  const take = (bytes: Buffer): void => {
    received += bytes.length;
    for (; received >= serverFrame.length; received -= serverFrame.length) events.onReply();
  };
  const readHead = (bytes: Buffer): void => {
    head += bytes.toString('latin1');
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    if (!head.startsWith('HTTP/1.1 101 ')) return fail(`not upgraded: ${head}`);
    isUpgraded = true;
    upgraded.resolve();
    take(Buffer.from(head.slice(end + 4), 'latin1'));
  };
  const socket = connect({
    ...address,
    noDelay: true,
    onread: {
      buffer: Buffer.alloc(65_536),
      callback: (length, buffer) => {
        const bytes = (buffer as Buffer).subarray(0, length);
        if (isUpgraded) take(bytes);
        else readHead(bytes);
        return true;
      },
    },
  });
  socket.on('error', ({ message }) => fail(message)).on('end', () => fail('closed by the peer'));
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n` +
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
  );
  return { socket, upgraded: upgraded.promise };
}
