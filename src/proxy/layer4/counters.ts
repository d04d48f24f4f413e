import { layer4Reasons, transports } from './reasons.ts';
import type { Layer4Reason, Transport } from './reasons.ts';

/** Counters of layer 4 connections and flows since the start of the data plane. */
export interface Layer4Counters {
  /** Started connections and UDP flows. */
  readonly started: Record<Transport, number>;
  readonly open: Record<Transport, number>;
  /** Bytes from clients. */
  readonly received: Record<Transport, number>;
  /** Bytes from backends. */
  readonly sent: Record<Transport, number>;
  readonly reasons: Record<Layer4Reason, number>;
  /** Datagrams dropped because there was no backend, or no buffer space to send them. */
  droppedDatagrams: number;
}

/** Creates counters with value 0. */
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
