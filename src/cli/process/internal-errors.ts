import type { Cell, Family, Logger, Metrics } from '../../telemetry/index.ts';
import type { Shutdown } from './shutdown.ts';
import { monotonicNow } from '../../time/clock.ts';

/** The origin of an internal error: the fixed label values of the metric. */
export type ErrorOrigin = 'exchange' | 'exception' | 'rejection' | 'worker';

/** Maximum number of stacks logged per second. The metric counts all errors. */
const stacksPerSecond = 10;

/** Handles unexpected errors: counts them, logs their stack, and lets the process continue (ADR 0015). */
export class InternalErrors {
  private readonly log: Logger;
  private readonly count: Family<Cell>;
  private second = 0;
  private logged = 0;

  /** Registers `sallyport_internal_errors_total`. Call it once per set of metrics. */
  constructor(log: Logger, metrics: Metrics) {
    this.log = log;
    this.count = metrics.counter({
      name: 'internal_errors_total',
      help: 'Unexpected internal errors, by origin.',
      labels: ['origin'],
    });
    for (const origin of ['exchange', 'exception', 'rejection', 'worker']) this.count.at(origin);
  }

  /** Takes an error whose exchange or connection has already been ended. */
  readonly report = (error: unknown): void => {
    this.take('exchange', error);
  };

  /**
   * From now until shutdown the process survives uncaught errors. Before this call they end it: a process that fails during its start
   * serves no traffic, and its supervisor must notice that.
   */
  survive(running: Pick<Shutdown, 'last'>): void {
    const onException = (error: unknown): void => this.take('exception', error);
    const onRejection = (error: unknown): void => this.take('rejection', error);
    process.on('uncaughtException', onException).on('unhandledRejection', onRejection);
    running.last(() => void process.off('uncaughtException', onException).off('unhandledRejection', onRejection));
  }

  /** Counts an error, and logs it. */
  take(origin: ErrorOrigin, error: unknown): void {
    this.count.at(origin).value += 1;
    const second = Math.floor(monotonicNow() / 1_000);
    if (second !== this.second) [this.second, this.logged] = [second, 0];
    this.logged += 1;
    if (this.logged <= stacksPerSecond) this.log.error({ err: error, origin }, 'internal error');
  }
}
