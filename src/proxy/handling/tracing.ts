import { isSignedTrace, readTrace, traceField } from '../../channel/trace.ts';
import type { RequestHead } from '../messages/request-head.ts';

/** Milliseconds by which the time of a signature may differ from the clock of the data plane. */
const window = 60_000;
/** Maximum number of remembered traces. */
const mostRemembered = 1_000;

/** Recognizes requests that ask for the decision about them, and may. Without a key, none does. */
export class Tracing {
  #key: string | undefined;
  /** Nonce → milliseconds since 1970 until which its signature is valid, the oldest first. Only of valid signatures. */
  readonly #used = new Map<string, number>();
  readonly #now: () => number;

  /** @param now milliseconds since 1970 */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** Sets the key of the Gateway in hexadecimal; `undefined`: traces are ignored. */
  setKey(key: string | undefined): void {
    this.#key = key;
  }

  /** Whether the request has a valid signature that was not used before. Uses it up. */
  accepts(head: RequestHead): boolean {
    const key = this.#key;
    if (key === undefined || !head.names.includes(traceField)) return false;
    const signed = readTrace(head.header(traceField) ?? '');
    const now = this.#now();
    if (signed === undefined || Math.abs(signed.time * 1000 - now) > window) return false;
    this.#forget(now);
    if (this.#used.has(signed.nonce) || this.#used.size >= mostRemembered) return false;
    if (!isSignedTrace(key, head, signed)) return false;
    this.#used.set(signed.nonce, signed.time * 1000 + window);
    return true;
  }

  #forget(now: number): void {
    for (const [nonce, until] of this.#used) if (until < now) this.#used.delete(nonce);
  }
}
