import type { Fields } from '../messages/forwarder.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { isInterimStatus } from '../messages/sendable.ts';

/** `pass` it on, `ignore` it, or end the exchange, because there are too many or it is invalid. */
export type InterimVerdict = 'pass' | 'ignore' | 'too-many' | 'invalid';

/** Counts the interim responses (1xx) of backends to one request, over all tries, because HTTP does not limit them. */
export class InterimResponses {
  private readonly limits: ProxyLimits;
  private count = 0;
  private bytes = 0;

  constructor(limits: ProxyLimits) {
    this.limits = limits;
  }

  /** Counts the next interim response and returns its treatment. */
  take(status: number, fields: Fields): InterimVerdict {
    if (!isInterimStatus(status)) return 'invalid';
    this.count += 1;
    for (const part of fields) this.bytes += part.length;
    if (this.count > this.limits.interimResponses || this.bytes > this.limits.interimBytes) return 'too-many';
    return status === 100 ? 'ignore' : 'pass';
  }
}
