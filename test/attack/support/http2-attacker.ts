import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { preface } from '../../support/http2.ts';
import type { Place } from './bystander.ts';
import type { Flood } from './http2-frames.ts';
import { floods } from './http2-frames.ts';

/** Not the address of anybody else on loopback, where there are several. */
const attackerAddress = '127.0.0.66';

/**
 * Attacks an address of loopback for some milliseconds on a number of connections, each of which is opened again where it ends.
 * Returns how many were opened. As a program: `node http2-attacker.ts <flood> <host> <port> <milliseconds> <connections>`.
 */
export async function attack(flood: Flood, at: Place, duration: number, connections: number): Promise<number> {
  const end = performance.now() + duration;
  let opened = 0;
  const one = async (): Promise<void> => {
    while (performance.now() < end) {
      opened += 1;
      await attackOnce(flood, at, end);
      // Connections of an attacker cost something, too.
      await delay(20);
    }
  };
  await Promise.all(Array.from({ length: connections }, one));
  return opened;
}

async function attackOnce(
  { begin, next, reads, rounds = Infinity }: Flood,
  { host, port }: Place,
  end: number,
): Promise<void> {
  const socket = connect({ host, port, localAddress: attackerAddress });
  const ended = new Promise((resolve) => void socket.on('error', resolve).once('close', resolve));
  socket.write(preface);
  if (reads) socket.resume();
  if (begin !== undefined) socket.write(begin);
  for (let round = 0; performance.now() < end && !socket.destroyed; round += 1) {
    const waits = round >= rounds || !socket.write(next(round));
    const left = Math.max(0, end - performance.now());
    if (waits) await Promise.race([ended, round < rounds ? drained(socket) : delay(left), delay(left)]);
    else await new Promise(setImmediate);
  }
  socket.destroy();
}

function drained(socket: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => void socket.once('drain', resolve));
}

if (process.argv[1]?.endsWith('http2-attacker.ts') === true) {
  const [name = '', host = '', port, duration, connections] = process.argv.slice(2);
  const flood = floods[name];
  if (flood === undefined) throw new Error(`no flood is called ${name}`);
  process.stdout.write(`${await attack(flood, { host, port: Number(port) }, Number(duration), Number(connections))}\n`);
  process.exit();
}
