import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Shutdown } from './shutdown.ts';

const mebibyte = 2 ** 20;
/** Milliseconds between two checks. */
const interval = 5_000;
/** The same while V8 saves memory, and before a collection. Saving doubles the cost of large responses, so it must stop soon after the load is back. */
const shortInterval = 250;
/** Bytes above the lowest memory that are worth returning. */
const excess = 64 * mebibyte;
/** Bytes above the lowest memory at which a peak is over. Less than `excess`: memory that moves around that limit is not a new peak each time. */
const returned = excess / 2;
/** Buffered bytes, and the share of time in which the event loop is active, below which the load is low. */
const calmBytes = mebibyte;
const calmUtilization = 0.5;
/**
 * Milliseconds for which V8 saves memory after one peak, without the interruptions by load. Memory that the process has at the next check
 * with low load is the new normal.
 */
const longestSaving = 60_000;
/** The same share below which a pause of some tens of milliseconds delays hardly any request: less than 500 small ones per second. */
const idleUtilization = 0.02;
/** Checks without load after which the garbage of the start is collected. The last one follows soon, because requests may arrive again. */
const checksAfterStart = 4;
/** Bytes of the heap up to which that collection takes at most some tens of milliseconds. A larger heap is collected in steps, by V8. */
const smallHeap = 32 * mebibyte;

/** The use of a process in the time before a check. */
export interface Use {
  /** Resident memory in bytes. */
  readonly memory: number;
  /** Bytes that wait for slow readers. */
  readonly buffered: number;
  /** The share of time in which the event loop was active, from 0 to 1. */
  readonly utilization: number;
}

/** What a process can do to return memory. */
export interface Savings {
  /** Called with each change. */
  readonly saveMemory: (isOn: boolean) => void;
  /** Collects the garbage of the start. Called once. */
  readonly collect: () => void;
}

/**
 * Decides when V8 saves memory: after a peak, while the load is low, and for at most `longestSaving` in total until the peak is over. Once
 * after the start, it collects all garbage: without a peak, V8 would keep that for hours in an idle process.
 */
export class MemoryReturn {
  private readonly savings: Savings;
  private lowest: number;
  private saving = false;
  /** Milliseconds for which V8 has saved memory since the last peak was over. */
  private spent = 0;
  /** Checks without load until the garbage of the start is collected. */
  private checksLeft = checksAfterStart;

  /** `memory`: resident memory at the start, in bytes. */
  constructor(memory: number, savings: Savings) {
    this.lowest = memory;
    this.savings = savings;
  }

  /** Whether V8 saves memory. */
  get isSaving(): boolean {
    return this.saving;
  }

  /** Milliseconds until the next check. */
  get pause(): number {
    return this.isSaving || this.checksLeft === 1 ? shortInterval : interval;
  }

  check({ memory, buffered, utilization }: Use): void {
    if (this.isSaving) this.spent += shortInterval;
    this.lowest = Math.min(this.lowest, memory);
    const isCalm = buffered < calmBytes && utilization < calmUtilization;
    if (isCalm && this.spent >= longestSaving) this.lowest = memory;
    if (memory <= this.lowest + returned) this.spent = 0;
    const isWorthwhile = isCalm && memory > this.lowest + excess;
    if (isWorthwhile !== this.isSaving) this.savings.saveMemory(isWorthwhile);
    this.saving = isWorthwhile;
    const isIdle = isCalm && utilization < idleUtilization;
    if (!isWorthwhile) this.countDown(isIdle);
  }

  private countDown(isIdle: boolean): void {
    if (this.checksLeft === 0) return;
    if (isIdle) this.checksLeft -= 1;
    else if (this.checksLeft === 1) this.checksLeft = 2;
    if (this.checksLeft === 0) this.savings.collect();
  }
}

/**
 * Lets a process return its memory within seconds after a peak, until shutdown. While a process keeps allocating, V8 would collect the
 * garbage of the peak only about 100 s after its last collection. An idle process would keep the free pages of its heap. With
 * `--optimize-for-size`, V8 collects garbage within 8 s, in small steps, and releases the free pages.
 *
 * @param buffered returns the number of bytes that wait for slow readers
 * @param utilization returns the share of time since the last call in which an event loop was active; default: that of this thread
 */
export function returnMemory(
  running: Pick<Shutdown, 'add'>,
  buffered: () => number = () => 0,
  utilization: () => number = utilizationSinceLast(),
): void {
  const decision = new MemoryReturn(process.memoryUsage.rss(), {
    saveMemory: (isOn) => setFlagsFromString(isOn ? '--optimize-for-size' : '--no-optimize-for-size'),
    collect: collectSmallHeap,
  });
  let timer: NodeJS.Timeout;
  const check = (): void => {
    decision.check({ memory: process.memoryUsage.rss(), buffered: buffered(), utilization: utilization() });
    timer = setTimeout(check, decision.pause).unref();
  };
  timer = setTimeout(check, decision.pause).unref();
  running.add(() => clearTimeout(timer));
}

/** V8 offers its collection to contexts that are created after the flag was set. */
function collectSmallHeap(): void {
  if (getHeapStatistics().used_heap_size > smallHeap) return;
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: object) => void;
  setFlagsFromString('--no-expose-gc');
  // The second one frees what the first one made unreachable, and returns the pages.
  collect({ type: 'major' });
  collect({ type: 'major', flavor: 'last-resort' });
}

function utilizationSinceLast(): () => number {
  let last = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    return utilization;
  };
}
