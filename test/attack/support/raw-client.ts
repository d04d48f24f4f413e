import { once } from 'node:events';
import type { Socket } from 'node:net';
import { openRaw } from '../../support/proxy.ts';

/** What became of a connection on which bytes were sent. */
export interface Played {
  readonly received: string;
  /** Whether the other side ended the connection. */
  readonly isClosed: boolean;
}

/**
 * Sends bytes (latin1) in packets cut at these places, and collects what comes back until the other side closes or `isEnough`.
 * Fails where neither happens in `patience` milliseconds.
 */
export async function play(
  port: number,
  { bytes, cuts }: { readonly bytes: string; readonly cuts: readonly number[] },
  isEnough: (received: string) => boolean,
  patience = 30_000,
): Promise<Played> {
  const socket = openRaw(port).setNoDelay(true);
  const { promise, resolve, reject } = Promise.withResolvers<Played>();
  let received = '';
  const timer = setTimeout(() => {
    socket.destroy();
    reject(
      new Error(
        `neither an answer nor an end for ${JSON.stringify(bytes)} cut at ${cuts.join()}; received ${JSON.stringify(received)}`,
      ),
    );
  }, patience);
  const look = (): void => {
    if (isEnough(received)) resolve({ received, isClosed: false });
  };
  socket.on('data', (chunk: Buffer) => {
    received += chunk.toString('latin1');
    look();
  });
  socket.on('close', () => resolve({ received, isClosed: true }));
  try {
    await sendInPieces(socket, bytes, cuts);
    look();
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

async function sendInPieces(socket: Socket, bytes: string, cuts: readonly number[]): Promise<void> {
  if (socket.connecting) await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  let from = 0;
  for (const to of [...cuts, bytes.length]) {
    if (!socket.writable) return;
    socket.write(bytes.slice(from, to), 'latin1');
    from = to;
    // The proxy in this process reads what has come before the next piece goes out.
    if (to < bytes.length) await new Promise(setImmediate);
  }
}
