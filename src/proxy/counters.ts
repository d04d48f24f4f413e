import { lastGrpcStatus } from './messages/grpc.ts';
import type { NameCounters } from './upstream/external-names.ts';
import { createLayer4Counters } from './layer4/counters.ts';
import type { Layer4Counters } from './layer4/counters.ts';
import { reasons } from './messages/reasons.ts';
import type { Reason } from './messages/reasons.ts';
import { sessionOutcomes } from './sessions/sessions.ts';
import type { SessionOutcome } from './sessions/sessions.ts';

/** Upper bounds of the duration buckets in milliseconds; a last bucket without a bound follows. */
export const durationBounds: readonly number[] = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000];

/** The names of limits; the fixed label set of the metric. */
export const limits = [
  'connections',
  'client-connections',
  'client-share',
  'tls-handshakes',
  'tls-messages',
  'former-certificates',
  'requests',
  'waiting',
  'endpoint-waiting',
  'wait-time',
  'authorization-body',
  'authorization-bytes',
  'authorization-answer',
  'tunnels',
  'tunnel-idle',
  'tunnel-half-closed',
  'mirrors',
  'mirror-body',
  'retries',
  'retry-body',
  'retry-budget',
  'matching',
  'buffered',
  'interim-responses',
  'http2-resets',
  'http2-pings',
  'http2-settings',
  'http2-priority',
  'http2-empty-data',
  'http2-ignored',
  'http2-window-updates',
  'first-byte-time',
  'proxy-header',
  'proxy-header-time',
  'handshake-time',
  'idle',
  'pipelined',
  'pipelined-time',
  'request-header',
  'request-header-time',
  'request-target',
  'request-body-time',
  'backend-stalled',
  'client-stalled',
  'response-header',
  'tcp-idle',
  'tcp-half-closed',
  'client-hello',
  'udp-flows',
  'udp-client-flows',
  'udp-queue',
] as const;
export type Limit = (typeof limits)[number];

/** The limit behind a reason for which a request ends. */
const limitBehind: Partial<Record<Reason, Limit>> = {
  'headers-too-large': 'request-header',
  'header-timeout': 'request-header-time',
  'target-too-long': 'request-target',
  'body-too-large': 'authorization-body',
  'body-timeout': 'request-body-time',
  'backend-stalled': 'backend-stalled',
  'retry-budget-exceeded': 'retry-budget',
  'match-too-costly': 'matching',
};

/**
 * Counters of the data plane since its start, as plain numbers that are read at scrape time. No label depends on
 * configuration or traffic, so the number of series is fixed.
 */
export interface ProxyCounters {
  connections: number;
  openConnections: number;
  tlsFailures: number;
  /** Connections that were reset because they did not begin with the required PROXY header. */
  proxyHeaderFailures: number;
  requests: number;
  openRequests: number;
  /** Buffered bytes that wait for slow readers, as counted by `Buffered`. */
  buffered: { readonly used: number };
  /** Final responses by the first digit of their status. 499 stands for clients that disconnected before a response. */
  readonly responses: Record<'1xx' | '2xx' | '3xx' | '4xx' | '5xx', number>;
  readonly reasons: Record<Reason, number>;
  /** gRPC calls by status code; `none` for calls that ended without one. */
  readonly grpcStatuses: Record<number | 'none', number>;
  /** Bytes of bodies. */
  requestBytes: number;
  responseBytes: number;
  upstreamAttempts: number;
  upstreamConnectFailures: number;
  /** Copies sent for mirror filters. */
  mirrored: number;
  /** Requests checked by an authorization server, by verdict. */
  readonly authorizations: Record<'permitted' | 'denied' | 'failed', number>;
  /** Requests of rules with session persistence, by what became of their session. */
  readonly sessions: Record<SessionOutcome, number>;
  /** How often something was rejected or aborted because of a limit. */
  readonly limitsReached: Record<Limit, number>;
  readonly layer4: Layer4Counters;
  readonly names: NameCounters;
  durationSum: number;
  /** Requests by duration, not cumulative: index n counts those up to `durationBounds[n]`. */
  readonly durations: number[];
}

/** Creates counters with value 0. */
export function createCounters(): ProxyCounters {
  return {
    connections: 0,
    openConnections: 0,
    tlsFailures: 0,
    proxyHeaderFailures: 0,
    requests: 0,
    openRequests: 0,
    buffered: { used: 0 },
    responses: { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 },
    reasons: Object.fromEntries(reasons.map((reason) => [reason, 0])) as Record<Reason, number>,
    grpcStatuses: Object.fromEntries(
      [...Array(lastGrpcStatus + 1).keys(), 'none'].map((status) => [status, 0]),
    ) as Record<number | 'none', number>,
    requestBytes: 0,
    responseBytes: 0,
    upstreamAttempts: 0,
    upstreamConnectFailures: 0,
    mirrored: 0,
    authorizations: { permitted: 0, denied: 0, failed: 0 },
    sessions: Object.fromEntries(sessionOutcomes.map((outcome) => [outcome, 0])) as Record<SessionOutcome, number>,
    limitsReached: Object.fromEntries(limits.map((limit) => [limit, 0])) as Record<Limit, number>,
    layer4: createLayer4Counters(),
    names: { nameLookups: 0, nameFailures: 0, internalAddresses: 0 },
    durationSum: 0,
    durations: Array.from({ length: durationBounds.length + 1 }, () => 0),
  };
}

/** Counts a completed request: its final status, the reason of a failure and the limit behind it, and its duration in milliseconds. */
export function countOutcome(
  counters: ProxyCounters,
  status: number,
  reason: Reason | undefined,
  duration: number,
): void {
  counters.responses[statusClass(status)] += 1;
  if (reason !== undefined) {
    counters.reasons[reason] += 1;
    const limit = limitBehind[reason];
    if (limit !== undefined) counters.limitsReached[limit] += 1;
  }
  counters.durationSum += duration;
  let bucket = 0;
  while (duration > (durationBounds[bucket] ?? Infinity)) bucket += 1;
  counters.durations[bucket] = (counters.durations[bucket] ?? 0) + 1;
}

/** Counts a completed gRPC call, in addition to its outcome as a request. */
export function countCall({ grpcStatuses }: ProxyCounters, grpcStatus: number | undefined): void {
  const key = grpcStatus ?? 'none';
  grpcStatuses[key] = (grpcStatuses[key] ?? 0) + 1;
}

function statusClass(status: number): keyof ProxyCounters['responses'] {
  if (status < 200) return '1xx';
  if (status < 300) return '2xx';
  if (status < 400) return '3xx';
  return status < 500 ? '4xx' : '5xx';
}
