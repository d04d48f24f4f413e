import { endpointsLabel } from '../../core/graph/backends/endpoints-key.ts';
import { traceLength, traceProtocol, traceStart } from '../../channel/trace.ts';
import type { TracedConnection, TraceReport } from '../../channel/trace.ts';
import type { Layer4RouteConfig, ListenerConfig } from '../../core/routing/config.ts';
import type { Tracing } from '../messages/tracing.ts';
import { routeLabel } from './account.ts';
import type { ClientHello } from './client-hello.ts';
import type { Layer4Reason } from './reasons.ts';

/** The decision about a connection or datagram, as far as it was made. */
export interface Decided {
  readonly listener: ListenerConfig | undefined;
  readonly route?: Layer4RouteConfig | undefined;
  /** The key of the endpoints. */
  readonly backend?: string | undefined;
  /** `host:port` of the endpoint. */
  readonly upstream?: string | undefined;
}

/** The result of looking for a trace, as in `Tracing.recognize`. */
export type Recognized = ReturnType<Tracing['recognize']>;

/** Looks for a trace at the beginning of `bytes`, which are a datagram, or the first bytes of a connection. */
export function traceIn(tracing: Tracing, connection: TracedConnection, bytes: Buffer): Recognized {
  if (bytes.length < traceLength || !bytes.subarray(0, traceStart.length).equals(traceStart)) return undefined;
  return tracing.recognize(connection, bytes.toString('latin1', traceStart.length, traceLength));
}

/** Looks for a trace among the protocols that a client offers. `port` is the one of the listener. */
export function traceInHello(tracing: Tracing, port: number, { serverName, protocols }: ClientHello): Recognized {
  const name = tracing.isOn ? protocols.find((protocol) => protocol.startsWith(traceProtocol)) : undefined;
  return name === undefined
    ? undefined
    : tracing.recognize({ protocol: 'TLS', port, serverName }, name.slice(traceProtocol.length));
}

/** The report of a decision. `reason` is undefined if a backend would get the connection or datagram. */
export function reportOf(
  { listener, route, backend, upstream }: Decided,
  reason: Layer4Reason | 'no-listener' | undefined,
): TraceReport {
  return {
    ...(listener === undefined ? {} : { listener: listener.key, listenerGeneration: listener.generation }),
    // The first rule is the only one that is served.
    ...(route === undefined ? {} : { route: routeLabel(route), routeGeneration: route.generation, rule: 0 }),
    ...(backend === undefined ? {} : { backend: endpointsLabel(backend) }),
    ...(upstream === undefined ? {} : { upstream }),
    ...(reason === undefined ? {} : { reason }),
  };
}
