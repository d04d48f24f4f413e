import { createSocket, type Socket } from 'node:dgram';
import { patience, type Client, type Destination } from './client.ts';

const keptSockets = 9;

/** Sends one datagram from a socket, and waits for its answer, which ends with the same text. */
function exchange(socket: Socket, { address, port }: Destination, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const done = (): void => {
      clearTimeout(timer);
      socket.off('message', take);
    };
    const timer = setTimeout(() => {
      done();
      reject(new Error('no answer in time'));
    }, patience);
    const take = (message: Buffer): void => {
      if (!message.toString().endsWith(` ${text}`)) return;
      done();
      resolve(message.toString());
    };
    socket.on('message', take);
    socket.send(text, port, address);
  });
}

/** Sends a datagram from a port of its own. Gives the answer. */
export async function askDatagram(destination: Destination, text = 'who'): Promise<string> {
  const socket = createSocket('udp4').on('error', () => undefined);
  try {
    return await exchange(socket, destination, text);
  } finally {
    socket.close();
  }
}

/** A client of UDP: each datagram that gets no answer is a loss. */
export class DatagramClient implements Client {
  /** Every fourth datagram has a port of its own. */
  readonly cycle = keptSockets * 4;
  private readonly destination: Destination;
  private readonly held = Array.from({ length: keptSockets }, () =>
    createSocket('udp4')
      .on('error', () => undefined)
      .setMaxListeners(0),
  );

  constructor(destination: Destination) {
    this.destination = destination;
  }

  async fresh(index: number): Promise<void> {
    await askDatagram(this.destination, `d${index}`);
  }

  async kept(index: number): Promise<void> {
    const socket = this.held[index % keptSockets];
    if (socket === undefined) throw new Error('no socket');
    await exchange(socket, this.destination, `d${index}`);
  }

  close(): void {
    for (const socket of this.held.splice(0)) socket.close();
  }
}
