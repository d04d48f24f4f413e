import { setFlagsFromString } from 'node:v8';
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
  private lowest: number;
  /** Checks since V8 began to save memory; 0 while it does not. */
  private checks = 0;

  /** `memory`: resident memory at the start, in bytes. `saveMemory` is called with each change. */
  constructor(memory: number, saveMemory: (isOn: boolean) => void) {
    this.lowest = memory;
    this.saveMemory = saveMemory;
  }

  get isSaving(): boolean {
    return this.checks > 0;
  }

  /** Milliseconds until the next check. */
  get pause(): number {
    return this.isSaving ? savingInterval : interval;
  }

  check({ memory, buffered, utilization }: Use): void {
    this.lowest = Math.min(this.lowest, memory);
    const isCalm = buffered < calmBytes && utilization < calmUtilization;
    if (isCalm && this.checks * savingInterval >= longestSaving) this.lowest = memory;
    const isWorthwhile = isCalm && memory > this.lowest + excess;
    if (isWorthwhile !== this.isSaving) this.saveMemory(isWorthwhile);
    this.checks = isWorthwhile ? this.checks + 1 : 0;
  }
}

/**
 * Lets a process return its memory within seconds after a peak, until shutdown. While a process keeps allocating, V8 would collect the
 * garbage of the peak only about 100 s after its last collection. An idle process would keep the free pages of its heap. With
 * `--optimize-for-size`, V8 collects garbage within 8 s, in small steps, and releases the free pages.
 *
 * @param buffered returns the number of bytes that wait for slow readers
 */
export function returnMemory(running: Pick<Shutdown, 'add'>, buffered: () => number = () => 0): void {
  const decision = new MemoryReturn(process.memoryUsage.rss(), (isOn) =>
    setFlagsFromString(isOn ? '--optimize-for-size' : '--no-optimize-for-size'),
  );
  let last = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout;
  const check = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    decision.check({ memory: process.memoryUsage.rss(), buffered: buffered(), utilization });
    timer = setTimeout(check, decision.pause).unref();
  };
  timer = setTimeout(check, decision.pause).unref();
  running.add(() => clearTimeout(timer));
}
