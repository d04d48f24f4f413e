import { readFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from 'node:tls';
import type { CertificatePair } from '../../../src/proxy/listen/identities.ts';
import type { Place } from './bystander.ts';

/** Eight connections, each of which begins the next handshake when the server has closed it. */
const connections = 8;

/**
 * Presents a client certificate again and again for some milliseconds. Returns how many handshakes were begun. As a program:
 * `node certificate-attacker.ts <host> <port> <milliseconds> <file with the pair as JSON>`.
 */
async function present(pair: CertificatePair, { host, port }: Place, duration: number): Promise<number> {
  const end = performance.now() + duration;
  let begun = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      begun += 1;
      const { promise, resolve } = Promise.withResolvers<void>();
      const socket = connect({
        ...pair,
        socket: connectTcp({ host, port, localAddress: '127.0.0.66' }),
        rejectUnauthorized: false,
      });
      socket
        .on('error', () => undefined)
        .on('close', () => resolve())
        .resume();
      await Promise.race([promise, delay(15_000, undefined, { ref: false })]);
      socket.destroy();
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return begun;
}

const [host = '', port, duration, file = ''] = process.argv.slice(2);
const pair = JSON.parse(readFileSync(file, 'utf8')) as CertificatePair;
process.stdout.write(`${await present(pair, { host, port: Number(port) }, Number(duration))}\n`);
process.exit();
