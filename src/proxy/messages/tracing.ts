import { isSignedTrace, readTrace, traceAnswer, traceField } from '../../channel/trace.ts';
import type { TracedConnection, TracedRequest, TraceReport, TraceSignature } from '../../channel/trace.ts';
import type { RequestHead } from './request-head.ts';
import { wallNow } from '../../time/clock.ts';

/** Milliseconds by which the time of a signature may differ from the clock of the data plane. */
const window = 60_000;
/** Maximum number of remembered traces. */
const maxRemembered = 1_000;

/** Makes the answer to the trace of a connection or datagram. */
export type TraceAnswer = (report: TraceReport) => Buffer;

/** The traces that were used, so that none is used twice. */
export interface UsedTraces {
  /**
   * Records a trace. Returns whether it was neither recorded before nor one too many.
   *
   * @param until milliseconds since 1970 until which its signature is valid @param now milliseconds since 1970
   */
  add(nonce: string, until: number, now: number): boolean;
}

/** Remembers the traces of a data plane with one thread. */
export class LocalUsedTraces implements UsedTraces {
  /** Nonce → time until which its signature is valid, the oldest first. */
  private readonly used = new Map<string, number>();

  add(nonce: string, until: number, now: number): boolean {
    for (const [other, end] of this.used) if (end < now) this.used.delete(other);
    if (this.used.has(nonce) || this.used.size >= maxRemembered) return false;
    this.used.set(nonce, until);
    return true;
  }
}

/** Recognizes requests, connections and datagrams that ask for the decision about them, and may. Without a key, none does. */
export class Tracing {
  private key: string | undefined;
  private readonly now: () => number;
  /** Only of valid signatures. */
  private readonly used: UsedTraces;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = wallNow, used: UsedTraces = new LocalUsedTraces()) {
    this.now = now;
    this.used = used;
  }

  /** Sets the key of the Gateway in hexadecimal; `undefined`: traces are ignored. */
  setKey(key: string | undefined): void {
    this.key = key;
  }

  /** Whether there is a key. */
  get isOn(): boolean {
    return this.key !== undefined;
  }

  /** Whether the request has a valid signature that was not used before. Uses it up. */
  accepts(head: RequestHead): boolean {
    const key = this.key;
    if (key === undefined || !head.names.includes(traceField)) return false;
    return typeof this.use(key, head, head.header(traceField) ?? '') === 'object';
  }

  /**
   * Recognizes the trace of a connection or datagram, and uses it up.
   *
   * @returns `spent` for a valid signature that cannot be answered: it was used before, or too many others were. It must not reach a
   *   backend either. `undefined` for anything else
   */
  recognize(connection: TracedConnection, value: string): TraceAnswer | 'spent' | undefined {
    const key = this.key;
    if (key === undefined) return undefined;
    const used = this.use(key, connection, value);
    if (typeof used !== 'object') return used;
    return (report) => traceAnswer(key, used.nonce, report);
  }

  private use(
    key: string,
    traced: TracedRequest | TracedConnection,
    value: string,
  ): TraceSignature | 'spent' | undefined {
    const signed = readTrace(value);
    const now = this.now();
    if (signed === undefined || Math.abs(signed.time * 1000 - now) > window) return undefined;
    if (!isSignedTrace(key, traced, signed)) return undefined;
    return this.used.add(signed.nonce, signed.time * 1000 + window, now) ? signed : 'spent';
  }
}
