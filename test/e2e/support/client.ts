import { createSecureContext, type SecureContext } from 'node:tls';

export interface Destination {
  /** Of a Gateway. */
  readonly address: string;
  readonly port: number;
  /** The host that requests name; in TLS the server name. */
  readonly host: string;
  readonly path?: string;
  /** Requests go over TLS to whoever proves to be `host` by one of these authorities. */
  readonly authorities?: SecureContext;
}

/** Authorities (PEM) in the form in which clients share them, read once. */
export function authoritiesOf(...certificates: readonly string[]): SecureContext {
  return createSecureContext({ ca: [...certificates] });
}

/** Sends requests to one destination. Each promise is for the whole answer, and rejects with why it is none that a client can use. */
export interface Client {
  /** Requests until each kept connection was used again, where a quarter of the requests use connections of their own. */
  readonly cycle: number;
  /** Sends the request of that number on a connection of its own. */
  fresh(index: number): Promise<void>;
  /** Sends it on one of a few connections, which rest between requests. */
  kept(index: number): Promise<void>;
  /** Closes all connections; may be called again. */
  close(): void;
}

/** Milliseconds: a request whose whole answer takes longer counts as lost. */
export const patience = 5_000;
