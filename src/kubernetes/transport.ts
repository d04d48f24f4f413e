import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import type { Credentials, TlsProof } from './credentials.ts';

/** Milliseconds for which a proof is good; the official client looks at token files once a minute. */
const proofLifetime = 10_000;
/** Each watch holds one connection, and there are about 25; requests must never wait behind them. */
const connections = 100;

export interface Access {
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string>>;
}

/** The one pool of connections to the API server; replaced, without cutting anybody off, when TLS material is renewed. */
export class Transport {
  private readonly credentials: Credentials;
  private readonly clock: Clock;
  private access: Promise<Access & { readonly tls: string }> | undefined;
  private provenAt = 0;
  private readonly dispatchers = new Set<Dispatcher>();

  constructor(credentials: Credentials, clock: Clock) {
    this.credentials = credentials;
    this.clock = clock;
  }

  /** Connections and credentials for one request. @throws what loading the credentials throws */
  async open(): Promise<Access> {
    if (this.access === undefined || this.clock.now() - this.provenAt > proofLifetime) {
      this.provenAt = this.clock.now();
      const renewing = this.renew(this.access);
      this.access = renewing;
      // A failure is told to those who wait, and tried anew by whoever comes next.
      renewing.catch(() => {
        if (this.access === renewing) this.access = undefined;
      });
    }
    return this.access;
  }

  /** Cuts all connections off. */
  async close(): Promise<void> {
    await Promise.all([...this.dispatchers].map((dispatcher) => dispatcher.destroy()));
    this.dispatchers.clear();
  }

  private async renew(before: Promise<Access & { readonly tls: string }> | undefined): Promise<Access & { readonly tls: string }> {
    const { headers, tls } = await this.credentials.prove();
    const former = await before?.catch(() => undefined);
    const material = JSON.stringify(tls);
    if (former?.tls === material) return { ...former, headers };
    const dispatcher = createDispatcher(tls, this.credentials.proxy);
    this.dispatchers.add(dispatcher);
    if (former !== undefined) void former.dispatcher.close().then(() => this.dispatchers.delete(former.dispatcher));
    return { dispatcher, headers, tls: material };
  }
}

function createDispatcher(tls: TlsProof, proxy: string | undefined): Dispatcher {
  // Probes by the kernel notice a peer that is gone while a watch is quiet.
  const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 };
  // Deadlines are the client's: undici's own would end quiet watches.
  const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };
  return proxy === undefined ? new Agent({ ...limits, connect }) : new ProxyAgent({ ...limits, uri: proxy, requestTls: connect });
}
