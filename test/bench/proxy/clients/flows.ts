import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { datagram } from '../messages.ts';
import type { Channel, OpenChannels } from './exchanges.ts';

/** Flows of datagrams. The backend returns each datagram. */
export function flows(count: number): OpenChannels {
  return async ({ address: { host, port }, name }, eventsOf) => {
    const sockets = Array.from({ length: count }, () => createSocket('udp4'));
    const open = async (position: number): Promise<Channel> => {
      const { onReply, onFailure } = eventsOf(position);
      const socket = sockets[position] ?? createSocket('udp4');
      socket.connect(port, host);
      await once(socket, 'connect');
      socket.on('error', onFailure).on('message', (message) => {
        if (message.length === datagram.length) onReply();
        else onFailure(new Error(`datagram of ${message.length} bytes from ${name}`));
      });
      return { send: () => socket.send(datagram) };
    };
    const list = await Promise.all(sockets.keys().map(open));
    return { list, close: () => sockets.forEach((socket) => socket.close()) };
  };
}
