import type { Reason } from '../messages/reasons.ts';

/** A completed request. Absent fields were unknown when it ended. */
export interface AccessLogEntry {
  /** When the request arrived, RFC 3339 in UTC. */
  readonly time: string;
  readonly client: string;
  readonly method: string;
  readonly host?: string;
  /** Normalized and without the query, which may contain secrets. */
  readonly path?: string;
  /** The status sent to the client; 499 if it disconnected before a response. */
  readonly status: number;
  /** The status of a gRPC call, 0 to 16, if it ended with one. */
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
  /** The reason why the client did not get the backend's complete response. */
  readonly reason?: Reason;
}

/** Formats the entry as one line of JSON with a newline. Escaping keeps request data inside the line. */
export function formatAccessLogEntry(entry: AccessLogEntry): string {
  return `${JSON.stringify(entry)}\n`;
}
