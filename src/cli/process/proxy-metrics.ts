import { durationBounds, type ProxyCounters } from '../../proxy/counters.ts';
import { sendsDirectly } from '../../proxy/sockets/direct-datagrams.ts';
import { directAccess } from '../../proxy/sockets/direct.ts';
import type { FamilyDefinition, Metrics } from '../../telemetry/metrics.ts';

/** Registers the counters of a data plane as `sallyport_proxy_*`. They are read at scrape time. */
export function exposeProxyCounters(metrics: Metrics, counters: ProxyCounters): void {
  const define = (name: string, help: string, labels: readonly string[] = []): FamilyDefinition => ({
    name: `proxy_${name}`,
    help,
    labels,
  });
  const total = (name: string, help: string, read: () => number): void =>
    metrics.observedCounter(define(name, help), () => [{ labels: [], value: read() }]);
  const present = (name: string, help: string, read: () => number): void =>
    metrics.observed(define(name, help), () => [{ labels: [], value: read() }]);

  total('connections_total', 'Connections accepted.', () => counters.connections);
  metrics.observed(
    define(
      'direct_sockets',
      'Whether sockets are read and written, and datagrams sent, directly (1) or through the documented parts of Node (0), which takes more processor time.',
      ['operation'],
    ),
    () =>
      labelled({
        read: Number(directAccess.reads),
        write: Number(directAccess.writes),
        datagram: Number(sendsDirectly),
      }),
  );
  present('open_connections', 'Connections open now.', () => counters.openConnections);
  total('tls_failures_total', 'TLS handshakes that failed.', () => counters.tlsFailures);
  total(
    'header_failures_total',
    'Connections that were reset because they did not begin with a valid PROXY header.',
    () => counters.proxyHeaderFailures,
  );
  total('requests_total', 'Requests that started.', () => counters.requests);
  present('open_requests', 'Requests in flight.', () => counters.openRequests);
  present(
    'buffered_bytes',
    'Bytes that wait because a client or backend does not read them, with the memory that it takes to keep them.',
    () => counters.buffered.used,
  );
  metrics.observedCounter(define('responses_total', 'Final responses by status class.', ['class']), () =>
    labelled(counters.responses),
  );
  metrics.observedCounter(
    define('failures_total', 'Requests that did not end with a complete response of a backend, by reason.', ['reason']),
    () => labelled(counters.reasons),
  );
  metrics.observedCounter(
    define('grpc_calls_total', 'gRPC calls by status; none: the call ended without a status.', ['grpc_status']),
    () => labelled(counters.grpcStatuses),
  );
  total('request_bytes_total', 'Bytes of request bodies.', () => counters.requestBytes);
  total('response_bytes_total', 'Bytes of response bodies.', () => counters.responseBytes);
  total('upstream_attempts_total', 'Requests sent to endpoints, including retries.', () => counters.upstreamAttempts);
  total(
    'upstream_connect_failures_total',
    'Attempts to connect to an endpoint that failed.',
    () => counters.upstreamConnectFailures,
  );
  total('name_lookups_total', 'DNS lookups of names of external backends.', () => counters.names.nameLookups);
  total(
    'name_failures_total',
    'DNS lookups without an answer, or with an answer for only one address family.',
    () => counters.names.nameFailures,
  );
  total(
    'internal_addresses_total',
    'Internal addresses in answers for names of external backends, which were rejected.',
    () => counters.names.internalAddresses,
  );
  total('mirrored_requests_total', 'Copies of requests sent for mirror filters.', () => counters.mirrored);
  metrics.observedCounter(
    define('authorizations_total', 'Requests to authorization servers, by result; failed: no valid response.', [
      'outcome',
    ]),
    () => labelled(counters.authorizations),
  );
  metrics.observedCounter(
    define(
      'sessions_total',
      'Requests with session persistence, by outcome; endpoint-gone: another endpoint was chosen.',
      ['outcome'],
    ),
    () => labelled(counters.sessions),
  );
  metrics.observedCounter(
    define(
      'limits_reached_total',
      'Requests and connections that were rejected or ended because of a limit, by limit.',
      ['limit'],
    ),
    () => labelled(counters.limitsReached),
  );
  const { layer4 } = counters;
  metrics.observedCounter(
    define('layer4_connections_total', 'Connections to TCP and TLS listeners, and flows of UDP, that began.', [
      'transport',
    ]),
    () => labelled(layer4.started),
  );
  metrics.observed(
    define('layer4_open_connections', 'Connections to TCP and TLS listeners, and flows of UDP, open now.', [
      'transport',
    ]),
    () => labelled(layer4.open),
  );
  metrics.observedCounter(
    define('layer4_received_bytes_total', 'Bytes from clients of TCP, TLS and UDP listeners.', ['transport']),
    () => labelled(layer4.received),
  );
  metrics.observedCounter(
    define('layer4_sent_bytes_total', 'Bytes from backends to clients of TCP, TLS and UDP listeners.', ['transport']),
    () => labelled(layer4.sent),
  );
  metrics.observedCounter(
    define(
      'layer4_failures_total',
      'Connections to TCP and TLS listeners, and flows of UDP, that did not end in order, and traces.',
      ['reason'],
    ),
    () => labelled(layer4.reasons),
  );
  total(
    'layer4_dropped_datagrams_total',
    'Datagrams that were dropped because there was no backend, or no room to send them.',
    () => layer4.droppedDatagrams,
  );
  metrics.observedHistogram(
    define('request_duration_seconds', 'Time from the request’s first byte to its end.'),
    () => ({
      bounds: durationBounds.map(inSeconds),
      counts: counters.durations,
      sum: inSeconds(counters.durationSum),
    }),
  );
}

function labelled(
  values: Readonly<Record<string, number>>,
): { readonly labels: readonly string[]; readonly value: number }[] {
  return Object.entries(values).map(([label, value]) => ({ labels: [label], value }));
}

function inSeconds(milliseconds: number): number {
  return milliseconds / 1000;
}
