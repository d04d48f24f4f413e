import type { ConnectionLogEntry } from '../../proxy/layer4/connection-log.ts';
import type { AccessLogEntry } from '../../proxy/handling/access-log.ts';
import type { Logger } from '../../telemetry/index.ts';

/** Returns functions that log requests, and connections and flows of layer 4. */
export function trafficLogs(log: Pick<Logger, 'info'>): {
  readonly accessLog: (entry: AccessLogEntry) => void;
  readonly connectionLog: (entry: ConnectionLogEntry) => void;
} {
  return {
    accessLog: ({ time: _began, ...entry }) => log.info(entry, 'request'),
    connectionLog: ({ time: _began, ...entry }) => log.info(entry, 'connection'),
  };
}
