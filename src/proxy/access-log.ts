import type { Reason } from './reasons.ts';

/** One ended request. Absent fields were not known when it ended. */
export interface AccessLogEntry {
  /** When the request arrived, RFC 3339 in UTC. */
  readonly time: string;
  readonly client: string;
  readonly method: string;
  readonly host?: string;
  /** Normalised and without query, which may hold secrets. */
  readonly path?: string;
  /** What the client was sent; 499 where it left before an answer. */
  readonly status: number;
  /** Of a gRPC call that ended with one: 0 to 16. */
  readonly grpcStatus?: number;
  /** Bytes of the response body sent. */
  readonly bytes: number;
  readonly durationMs: number;
  /** The key of the listener. */
  readonly listener?: string;
  /** `Kind/namespace/name`. */
  readonly route?: string;
  readonly rule?: number;
  /** `namespace/service/port`. */
  readonly backend?: string;
  /** `host:port` of the endpoint tried last. */
  readonly upstream?: string;
  /** Why the backend's whole answer was not what the client got. */
  readonly reason?: Reason;
}

/** The entry as one line of JSON with a line break at its end; nothing in a request can break out of it. */
export function formatAccessLogEntry(entry: AccessLogEntry): string {
  return `${JSON.stringify(entry)}\n`;
}
