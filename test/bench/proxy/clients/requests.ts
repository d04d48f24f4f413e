import type { Peer } from '../measurement.ts';

/** The requests of a load, all alike. */
export interface Requests {
  readonly scheme: 'http' | 'https';
  readonly path: string;
  /** The requests are POSTs with this body; GETs if omitted. */
  readonly body?: string;
  readonly connections: number;
}

export function urlOf({ address: { host, port } }: Peer, { scheme, path }: Requests): string {
  return `${scheme}://${host}:${port}${path}`;
}
