import * as http from 'node:http';
import * as https from 'node:https';
import { text } from 'node:stream/consumers';
import { patience, type Client, type Destination } from './client.ts';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

const keptConnections = 21;
/** Requests from one on a kept connection to the next one on it, where every fourth request has a connection of its own. */
const cycle = 28;

/** Requests a second for which each kept connection of a client is idle for so many seconds between two requests. */
export function paceOfIdle(seconds: number): number {
  return cycle / seconds;
}

/** A client of HTTP/1.1. */
export class Http1Client implements Client {
  readonly cycle = cycle;
  private readonly destination: Destination;
  /** The first one of them resumes no TLS session, the second one may. */
  private readonly connecting: readonly http.Agent[];
  private readonly held: readonly http.Agent[];

  constructor(destination: Destination) {
    this.destination = destination;
    const agentWith = (options: https.AgentOptions) => agentFor(destination, options);
    this.connecting = [agentWith({ maxCachedSessions: 0 }), agentWith({})];
    // Each keeps a connection, which rests for a while between two requests as those of browsers and other proxies do, and makes
    // another one only while it is busy. One that rested for long is closed by any server, perhaps under the next request on it.
    this.held = Array.from({ length: keptConnections }, () => agentWith({ keepAlive: true, scheduling: 'fifo' }));
  }

  fresh(index: number): Promise<void> {
    return this.get(this.connecting[(index / 4) % 2]);
  }

  kept(index: number): Promise<void> {
    return this.get(this.held[index % keptConnections]);
  }

  close(): void {
    for (const agent of [...this.connecting, ...this.held]) agent.destroy();
  }

  private async get(agent: http.Agent | undefined): Promise<void> {
    const { status, body } = await ask(this.destination, agent);
    if (status !== 200) throw new Error(`status ${body.split('\n', 2).join(': ')}`);
  }
}

function agentFor({ authorities }: Destination, options: https.AgentOptions): http.Agent {
  return authorities === undefined
    ? new http.Agent(options)
    : new https.Agent({ ...options, secureContext: authorities });
}

/** Sends one request and takes the whole answer, on a connection of its own unless an agent keeps one; fails where it breaks off or takes too long. */
export function ask(destination: Destination, agent = agentFor(destination, {})): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { address, port, host, path = '/', authorities } = destination;
    const options = { host: address, port, path, agent, headers: { host }, signal: AbortSignal.timeout(patience) };
    const request = authorities === undefined ? http.get(options) : https.get({ ...options, servername: host });
    request.on('error', reject);
    request.on('response', (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
  });
}
