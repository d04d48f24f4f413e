import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/** Its own address: limits apply to each client address, and attackers have other ones (`slowhttptest` has 127.0.0.1). */
const witnessAddress = '127.0.0.77';

/** What became of the requests of a client that has nothing to do with an attack. */
export interface Witness {
  readonly sent: number;
  /** Why requests failed: the status or the error of each. */
  readonly failures: readonly string[];
  /** Milliseconds within which 99 of 100 were answered, from the moment at which each was due. */
  readonly p99: number;
}

/** An address to connect to; a number alone is a port of 127.0.0.1. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/**
 * Sends ordinary requests at a fixed rate while `attack` runs. Run it in a process of its own where the attacker keeps
 * this one busy, since a client that waits for its own turn measures itself.
 */
export async function whileServing(
  to: number | Place,
  host: string,
  attack: () => Promise<void>,
  rate = 200,
): Promise<Witness> {
  const agent = new Agent({ keepAlive: true });
  const waits: number[] = [];
  const failures: string[] = [];
  const open: Promise<void>[] = [];
  const attacking = { isOver: false };
  const began = performance.now();
  const one = async (due: number): Promise<void> => {
    try {
      const status = await statusOf(to, host, agent);
      if (status !== 200) failures.push(String(status));
    } catch (error) {
      failures.push(String((error as NodeJS.ErrnoException).code ?? error));
    }
    waits.push(performance.now() - due);
  };
  const sending = (async () => {
    for (let count = 0; !attacking.isOver; count += 1) {
      const due = began + (count * 1_000) / rate;
      const early = due - performance.now();
      if (early > 0) await delay(early);
      open.push(one(due));
    }
  })();
  try {
    await attack();
  } finally {
    attacking.isOver = true;
  }
  await sending;
  await Promise.all(open);
  agent.destroy();
  waits.sort((a, b) => a - b);
  return { sent: waits.length, failures, p99: waits[Math.floor(waits.length * 0.99)] ?? 0 };
}

/**
 * Sends ordinary requests before the attacks: code that has not run yet is slow. Prints the p99 without an attack, which tells whether
 * other programs keep the machine busy.
 */
export async function warmUp(to: Place, host: string): Promise<void> {
  await whileServing(to, host, () => delay(2_000));
  const { p99 } = await whileServing(to, host, () => delay(2_000));
  process.stdout.write(`without an attack: p99 ${p99.toFixed(0)} ms\n`);
}

function statusOf(to: number | Place, host: string, agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request({
    ...(typeof to === 'number' ? { host: '127.0.0.1', port: to } : to),
    localAddress: witnessAddress,
    path: '/',
    headers: { host },
    agent,
    timeout: 10_000,
  });
  sent.on('response', (response) => {
    response.on('error', reject).on('end', () => resolve(response.statusCode ?? 0));
    response.resume();
  });
  sent.on('timeout', () => sent.destroy(new Error('no answer for 10 s'))).on('error', reject);
  sent.end();
  return promise;
}
