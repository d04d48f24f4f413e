import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';
import { createSecureContext } from 'node:tls';
import { SteadyCalls } from './steady-calls.ts';

export interface Destination {
  /** Of a Gateway. */
  readonly address: string;
  readonly port: number;
  /** The host that requests name; in TLS the server name. */
  readonly host: string;
  readonly path?: string;
  /** Requests go over TLS to whoever proves to be `host` by one of these authorities (PEM). */
  readonly ca?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

const perSecond = 200;
/** What a client of today calls a failure. */
const patience = 30_000;
const keptConnections = 21;

/** Requests at a steady pace, a quarter of them each on a connection of its own, the others on connections that are kept. */
export class Traffic {
  readonly #destination: Destination;
  /** The first one of them resumes no TLS session, the second one may. */
  readonly #fresh: readonly http.Agent[];
  readonly #kept: readonly http.Agent[];
  readonly #requests: SteadyCalls;
  readonly #begin = performance.now();
  /** What was lost → seconds after the begin. */
  readonly #losses = new Map<string, { readonly first: number; readonly last: number }>();

  constructor(destination: Destination) {
    this.#destination = destination;
    const agentWith = agentsFor(destination);
    this.#fresh = [agentWith({ maxCachedSessions: 0 }), agentWith({})];
    // Each keeps a connection, which rests for a while between two requests as those of browsers and other proxies do, and makes
    // another one only while it is busy. One that rested for long is closed by any server, perhaps under the next request on it.
    this.#kept = Array.from({ length: keptConnections }, () => agentWith({ keepAlive: true, scheduling: 'fifo' }));
    this.#requests = new SteadyCalls((index) => this.#send(index), { perSecond, mostUnanswered: 5 * perSecond });
  }

  /** Waits until so many more requests were answered. */
  goesOn(requests: number): Promise<void> {
    return this.#requests.goesOn(requests);
  }

  /** Sends no more. Gives what was lost and when, and whether too little was sent, in words; nothing where all is well. May be called again. */
  async stop(): Promise<readonly string[]> {
    const { planned, made, outcomes } = await this.#requests.stop();
    for (const agent of [...this.#fresh, ...this.#kept]) agent.destroy();
    const lost = [...this.#losses].map(([what, { first, last }]) => `${outcomes[what]} × ${what}, ${first.toFixed(1)} s to ${last.toFixed(1)} s after the begin`);
    return made >= 0.9 * planned ? lost : [...lost, `of ${planned} requests that were due only ${made} were sent`];
  }

  async #send(index: number): Promise<string> {
    const kind = index % 4 === 0 ? 'fresh' : 'kept';
    const agent = kind === 'fresh' ? this.#fresh[(index / 4) % 2] : this.#kept[index % keptConnections];
    const outcome = await this.#outcomeOf(agent);
    return outcome === served ? served : this.#lose(`${outcome} on a ${kind} connection`);
  }

  async #outcomeOf(agent: http.Agent | undefined): Promise<string> {
    try {
      const { status, body } = await ask(this.#destination, agent);
      return status === 200 ? served : `status ${body.split('\n', 2).join(': ')}`;
    } catch (error) {
      return String(error);
    }
  }

  #lose(what: string): string {
    const now = (performance.now() - this.#begin) / 1000;
    this.#losses.set(what, { first: this.#losses.get(what)?.first ?? now, last: now });
    return what;
  }
}

const served = 'served';

/** Makes agents for a destination, which read its authorities once. */
function agentsFor({ ca }: Destination): (options: https.AgentOptions) => http.Agent {
  if (ca === undefined) return (options) => new http.Agent(options);
  const secureContext = createSecureContext({ ca });
  return (options) => new https.Agent({ ...options, secureContext });
}

/** Sends one request and takes the whole answer, on a connection of its own unless an agent keeps one; fails where it breaks off or takes too long. */
export function ask({ address, port, host, path = '/', ca }: Destination, agent?: http.Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: address, port, path, agent: agent ?? false, headers: { host }, signal: AbortSignal.timeout(patience) };
    const request = ca === undefined ? http.get(options) : https.get({ ...options, ca, servername: host });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
  });
}
