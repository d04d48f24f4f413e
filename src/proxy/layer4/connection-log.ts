import type { Layer4Reason, Transport } from './reasons.ts';

/** A completed connection or flow of layer 4. Absent fields were unknown when it ended. */
export interface ConnectionLogEntry {
  /** When the connection arrived, RFC 3339 in UTC. */
  readonly time: string;
  readonly transport: Transport;
  readonly client: string;
  /** The server name of the TLS handshake in lower case. */
  readonly serverName?: string;
  /** Bytes from the client. */
  readonly receivedBytes: number;
  /** Bytes from the backend. */
  readonly sentBytes: number;
  readonly durationMs: number;
  /** The key of the listener. */
  readonly listener: string;
  /** `Kind/namespace/name`. */
  readonly route?: string;
  /** `namespace/service/port`. */
  readonly backend?: string;
  /** `host:port` of the endpoint tried last. */
  readonly upstream?: string;
  /** The reason if it did not end in order. */
  readonly reason?: Layer4Reason;
}
