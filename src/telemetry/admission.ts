import type { Cell, Family, Histogram, Metrics } from './metrics.ts';

/** The webhook's metrics. No label contains a name or a namespace, because their number is unbounded. */
export interface AdmissionMetrics {
  /** Labels: kind, operation, verdict (`allowed`, `denied`, `error`), dry run (`true`, `false`). */
  readonly requests: Family<Cell>;
  /** Seconds from the arrival of a request to its response. Labels: operation. */
  readonly duration: Family<Histogram>;
  /** Labels: rule, mode (`deny`, `warn`, `record`, `tolerate`, `would-deny`, `exempt`). */
  readonly findings: Family<Cell>;
  readonly inflight: Cell;
  /** Connections closed because of limits, and requests sent before the previous response. Labels: reason (`connections`, `pipelined`). */
  readonly refused: Family<Cell>;
  /** Current backlog. Labels: what (`reviews` in the queue, `bytes` of bodies). */
  readonly held: Family<Cell>;
  /** Responses without a full verdict. Labels: reason. */
  readonly degraded: Family<Cell>;
}

/** Values that are read at scrape time; `undefined` if unknown. */
export interface AdmissionFacts {
  /** Seconds since the newest event reached the cache. */
  cacheAge(): number | undefined;
  /** Expiry of the serving certificate, in seconds since 1970. */
  certificateExpiry(): number | undefined;
}

// Decisions take tens of microseconds; the API server waits 30 seconds at most.
const durationBuckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 30,
];

/** Registers the webhook's metrics, all named `sallyport_admission_*`. Call it once per `Metrics`. */
export function createAdmissionMetrics(metrics: Metrics, facts: AdmissionFacts): AdmissionMetrics {
  const define = (name: string, help: string, labels: readonly string[] = []) => ({
    name: `admission_${name}`,
    help,
    labels,
  });
  metrics.observed(define('cache_age_seconds', 'Seconds since the newest event reached the cache.'), () =>
    reading(facts.cacheAge()),
  );
  metrics.observed(
    define('cert_not_after_seconds', 'When the serving certificate expires, in seconds since 1970.'),
    () => reading(facts.certificateExpiry()),
  );
  return {
    requests: metrics.counter(
      define('requests_total', 'Admission requests by verdict.', ['kind', 'operation', 'verdict', 'dry_run']),
    ),
    duration: metrics.histogram(
      define('duration_seconds', 'Time from arrival to response.', ['operation']),
      durationBuckets,
    ),
    findings: metrics.counter(define('rule_findings_total', 'Findings by rule and effect.', ['rule', 'mode'])),
    inflight: metrics.gauge(define('inflight', 'Requests in flight.')).at(),
    refused: metrics.counter(define('connections_refused_total', 'Connections closed because of a limit.', ['reason'])),
    held: metrics.gauge(
      define('held', 'Reviews that wait for their turn, and bytes of bodies that are held.', ['what']),
    ),
    degraded: metrics.counter(define('degraded_total', 'Responses without a full verdict.', ['reason'])),
  };
}

function reading(value: number | undefined) {
  return value === undefined ? [] : [{ labels: [], value }];
}
