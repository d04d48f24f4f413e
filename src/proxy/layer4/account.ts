import { endpointsLabel } from '../../core/graph/backends/endpoints-key.ts';
import type { ConfigKey, Layer4RouteConfig, ListenerConfig } from '../../core/routing/config.ts';
import type { ConnectionLogEntry } from './connection-log.ts';
import type { Layer4Counters } from './counters.ts';
import type { Layer4Reason, Transport } from './reasons.ts';
import { monotonicNow, wallNow } from '../../time/clock.ts';

/** The destination of metrics and logs. */
export interface Books {
  readonly counters: { readonly layer4: Layer4Counters };
  readonly connectionLog: ((entry: ConnectionLogEntry) => void) | undefined;
}

/** The start of a connection or flow. */
export interface Opening {
  readonly transport: Transport;
  /** The client's address. */
  readonly client: string;
  readonly listener: ListenerConfig;
  /** In lower case; `''` if the client sends none. */
  readonly serverName: string;
}

/** Counts one connection or flow, and logs it at its end. */
export class Account {
  route: Layer4RouteConfig | undefined;
  backend: ConfigKey | undefined;
  /** `host:port` of the endpoint tried last. */
  upstream: string | undefined;
  private readonly books: Books;
  private readonly opening: Opening;
  private readonly startedAt = monotonicNow();
  private receivedBytes = 0;
  private sentBytes = 0;
  private isClosed = false;

  constructor(books: Books, opening: Opening) {
    this.books = books;
    this.opening = opening;
    const { started, open } = books.counters.layer4;
    started[opening.transport] += 1;
    open[opening.transport] += 1;
  }

  /** Counts bytes from the client. */
  received(bytes: number): void {
    this.receivedBytes += bytes;
    this.books.counters.layer4.received[this.opening.transport] += bytes;
  }

  /** Counts bytes from the backend. */
  sent(bytes: number): void {
    this.sentBytes += bytes;
    this.books.counters.layer4.sent[this.opening.transport] += bytes;
  }

  /** Ends the account; later calls have no effect. `reason` is undefined after an orderly end. */
  close(reason?: Layer4Reason): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const { counters, connectionLog } = this.books;
    counters.layer4.open[this.opening.transport] -= 1;
    if (reason !== undefined) counters.layer4.reasons[reason] += 1;
    connectionLog?.(this.entry(reason));
  }

  private entry(reason: Layer4Reason | undefined): ConnectionLogEntry {
    const { opening, route, backend, upstream, receivedBytes, sentBytes } = this;
    const duration = monotonicNow() - this.startedAt;
    return {
      time: new Date(wallNow() - duration).toISOString(),
      transport: opening.transport,
      client: opening.client,
      ...(opening.serverName === '' ? {} : { serverName: opening.serverName }),
      receivedBytes,
      sentBytes,
      durationMs: Math.round(duration * 1_000) / 1_000,
      listener: opening.listener.key,
      ...(route === undefined ? {} : { route: routeLabel(route) }),
      ...(backend === undefined ? {} : { backend: endpointsLabel(backend) }),
      ...(upstream === undefined ? {} : { upstream }),
      ...(reason === undefined ? {} : { reason }),
    };
  }
}

/** `Kind/namespace/name` of a route, as in logs. */
export function routeLabel({ routeKind, route }: Layer4RouteConfig): string {
  return `${routeKind}/${route}`;
}
