import { setFlagsFromString } from 'node:v8';
import type { ProxyCounters } from '../../proxy/counters.ts';
import type { Shutdown } from './shutdown.ts';

const mebibyte = 2 ** 20;
/** Milliseconds between two checks. */
const interval = 5_000;
/** The same while V8 saves memory. Saving doubles the cost of large responses, so it must stop soon after the load is back. */
const savingInterval = 250;
/** Bytes above the lowest memory that are worth returning. */
const excess = 64 * mebibyte;
/** Buffered bytes, and the share of time in which the event loop is active, below which a peak is over. */
const calmBytes = mebibyte;
const calmUtilization = 0.5;
/** Milliseconds for which V8 saves memory after one peak. Memory that the process still has then is the new normal. */
const longestSaving = 60_000;

/** The use of a process in the time before a check. */
export interface Use {
  /** Resident memory in bytes. */
  readonly memory: number;
  /** Bytes that wait for slow readers. */
  readonly buffered: number;
  /** The share of time in which the event loop was active, from 0 to 1. */
  readonly utilization: number;
}

/** Decides when V8 saves memory: after a peak, as long as the load is low, and for a limited time. */
export class MemoryReturn {
  private readonly saveMemory: (isOn: boolean) => void;
  private lowest = Infinity;
  /** Checks since V8 began to save memory; 0 while it does not. */
  private checks = 0;

  /** `saveMemory` is called with each change. */
  constructor(saveMemory: (isOn: boolean) => void) {
    this.saveMemory = saveMemory;
  }

  /** Milliseconds until the next check. */
  get pause(): number {
    return this.checks > 0 ? savingInterval : interval;
  }

  check({ memory, buffered, utilization }: Use): void {
    this.lowest = Math.min(this.lowest, memory);
    const isCalm = buffered < calmBytes && utilization < calmUtilization;
    if (isCalm && this.checks * savingInterval >= longestSaving) this.lowest = memory;
    const isWorthwhile = isCalm && memory > this.lowest + excess;
    if (isWorthwhile !== this.checks > 0) this.saveMemory(isWorthwhile);
    this.checks = isWorthwhile ? this.checks + 1 : 0;
  }
}

/**
 * Lets a data plane return its memory within seconds after a peak, until shutdown. While a process keeps allocating, V8 would collect the
 * garbage of the peak only about 100 s after its last collection. With `--optimize-for-size`, it collects garbage within 8 s, in small
 * steps, and releases the free pages of its heap.
 */
export function returnMemory(counters: Pick<ProxyCounters, 'buffered'>, running: Pick<Shutdown, 'add'>): void {
  const decision = new MemoryReturn((isOn) =>
    setFlagsFromString(isOn ? '--optimize-for-size' : '--no-optimize-for-size'),
  );
  let last = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  const check = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    decision.check({ memory: process.memoryUsage.rss(), buffered: counters.buffered.used, utilization });
    timer = setTimeout(check, decision.pause).unref();
  };
  timer = setTimeout(check, decision.pause).unref();
  running.add(() => clearTimeout(timer));
}
