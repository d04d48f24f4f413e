import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import { hostOf, versionHeader } from './objects.ts';

/** How requests at a steady pace ended. */
export interface Report {
  readonly requests: number;
  /** Milliseconds that they took. */
  readonly durations: readonly number[];
  /** By what went wrong. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Milliseconds, which is also how exact it is told when a route is served. */
const betweenAttempts = 1;

/** A client of the data plane. */
export class Traffic {
  private readonly pool: Pool;

  constructor(address: string) {
    this.pool = new Pool(`http://${address.includes(':') ? `[${address}]` : address}`, { connections: 64 });
  }

  /** Asks a host until it is served, at this version where one is given. Gives the moment of that answer. */
  async whenServed(route: number, { version = '1', seconds = 60 } = {}): Promise<number> {
    const end = performance.now() + seconds * 1000;
    while (performance.now() < end) {
      const answer = await this.ask(route);
      if (answer === version) return performance.now();
      // Asking all the time would take the processor from those who are waited for.
      await pause(betweenAttempts);
    }
    throw new Error(`route ${route} is not served at version ${version} within ${seconds} s`);
  }

  /** What a route answers: the version that it is served at, or the status where it is another than 200. */
  async ask(route: number): Promise<string> {
    const { statusCode, headers, body } = await this.pool.request({
      path: '/',
      method: 'GET',
      headers: { host: hostOf(route) },
    });
    await body.dump();
    return statusCode === 200 ? String(headers[versionHeader]) : `status ${statusCode}`;
  }

  /** Sends a request to one of the first `routes` routes every `interval` milliseconds, until it is stopped. */
  begin(routes: number, interval: number): { stop(): Promise<Report> } {
    const failures: Record<string, number> = {};
    const stopping = new AbortController();
    const underWay = new Set<Promise<void>>();
    const durations: number[] = [];
    let requests = 0;
    const send = async (route: number): Promise<void> => {
      const began = performance.now();
      const answer = await this.ask(route).catch(String);
      durations.push(performance.now() - began);
      if (!/^\d+$/.test(answer)) failures[answer] = (failures[answer] ?? 0) + 1;
    };
    const work = (async () => {
      while (!stopping.signal.aborted) {
        // Neighbours in time are none in number.
        const sent = send((requests * 7919) % routes);
        requests += 1;
        underWay.add(sent);
        void sent.then(() => underWay.delete(sent));
        await pause(interval);
      }
      await Promise.all(underWay);
    })();
    return {
      async stop() {
        stopping.abort();
        await work;
        return { requests, durations, failures };
      },
    };
  }

  close(): Promise<void> {
    return this.pool.destroy();
  }
}
