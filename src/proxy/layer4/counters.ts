import { layer4Reasons, transports } from './reasons.ts';
import type { Layer4Reason, Transport } from './reasons.ts';

/** The connections and flows of layer 4 since the start of the data plane. */
export interface Layer4Counters {
  /** Connections, and flows of UDP, that began. */
  readonly started: Record<Transport, number>;
  readonly open: Record<Transport, number>;
  /** Bytes that came from clients. */
  readonly received: Record<Transport, number>;
  /** Bytes that came from backends. */
  readonly sent: Record<Transport, number>;
  readonly reasons: Record<Layer4Reason, number>;
  /** Datagrams for which there was no backend, or no room to send them. */
  droppedDatagrams: number;
}

/** Counters that stand at zero. */
export function createLayer4Counters(): Layer4Counters {
  return {
    started: zeros(transports),
    open: zeros(transports),
    received: zeros(transports),
    sent: zeros(transports),
    reasons: zeros(layer4Reasons),
    droppedDatagrams: 0,
  };
}

function zeros<K extends string>(keys: readonly K[]): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, 0])) as Record<K, number>;
}
