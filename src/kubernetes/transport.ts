import { Agent, ProxyAgent, type Dispatcher } from 'undici';
import type { Clock } from './clock.ts';
import type { Credentials, TlsProof } from './credentials.ts';

/** Milliseconds for which credentials are cached. The official client checks token files once a minute. */
const proofLifetime = 10_000;
/** Each of about 25 watches occupies a connection, and requests must never wait for them. */
const connections = 100;

export interface Access {
  readonly dispatcher: Dispatcher;
  readonly headers: Readonly<Record<string, string>>;
}

/** The connection pool to the API server. It is replaced without closing connections in use when TLS material is renewed. */
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

  /** Connections and credentials for one request. @throws errors of loading the credentials */
  async open(): Promise<Access> {
    if (this.access === undefined || this.clock.now() - this.provenAt > proofLifetime) {
      this.provenAt = this.clock.now();
      const renewing = this.renew(this.access);
      this.access = renewing;
      // Those who wait get the failure, and the next caller tries again.
      renewing.catch(() => {
        if (this.access === renewing) this.access = undefined;
      });
    }
    return this.access;
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    await Promise.all([...this.dispatchers].map((dispatcher) => dispatcher.destroy()));
    this.dispatchers.clear();
  }

  private async renew(
    before: Promise<Access & { readonly tls: string }> | undefined,
  ): Promise<Access & { readonly tls: string }> {
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
  // TCP keepalive detects a lost peer while a watch is quiet.
  const connect = { ...tls, keepAlive: true, keepAliveInitialDelay: 30_000 };
  // The client has its own timeouts. Those of undici would end quiet watches.
  const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };
  return proxy === undefined
    ? new Agent({ ...limits, connect })
    : new ProxyAgent({ ...limits, uri: proxy, requestTls: connect });
}
