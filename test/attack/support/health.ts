import { fork } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import { constants, setPriority } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What became of the health checks during an attack. */
export interface Health {
  /** Milliseconds of each. */
  readonly times: readonly number[];
  readonly failures: number;
}

/** Asks for /healthz every 20 ms. */
export interface HealthWatch {
  during<T>(attack: () => Promise<T>): Promise<Health & { readonly result: T }>;
  stop(): Promise<void>;
}

/** Where one process attacks and watches at the same time, it measures itself. */
export async function startHealthWatch(port: number): Promise<HealthWatch> {
  const watcher = fork(fileURLToPath(import.meta.url), [String(port)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  await once(watcher, 'message');
  // An attacker is on another machine: ours must not take the processor from those that it attacks.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  return {
    async during(attack) {
      watcher.send('begin');
      const result = await attack();
      watcher.send('end');
      const [health] = (await once(watcher, 'message')) as [Health];
      return { ...health, result };
    },
    async stop() {
      watcher.disconnect();
      await once(watcher, 'exit');
    },
  };
}

/** A connection of its own for each, as a kubelet does. */
async function check(port: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  get({ host: '127.0.0.1', port, path: '/healthz', agent: false, timeout: 10_000 }, (response) => {
    response
      .resume()
      .on('end', () => resolve(response.statusCode === 200))
      .on('error', () => resolve(false));
  })
    .on('error', () => resolve(false))
    .on('timeout', () => resolve(false));
  return await promise;
}

async function watch(port: number): Promise<void> {
  const state = { isOver: true };
  process.on('message', (message) => {
    state.isOver = message === 'end';
    if (message === 'begin') void checkOften();
  });
  const checkOften = async (): Promise<void> => {
    const times: number[] = [];
    let failures = 0;
    while (!state.isOver) {
      const began = performance.now();
      if (!(await check(port))) failures += 1;
      times.push(performance.now() - began);
      await delay(20);
    }
    process.send?.({ times, failures });
  };
  // The first ones load what both sides need for them.
  for (let count = 0; count < 5; count += 1) await check(port);
  process.send?.('ready');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await watch(Number(process.argv[2]));
