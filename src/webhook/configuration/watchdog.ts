import { startRounds, type Rounds } from '../../certificates/index.ts';
import type { ApiClient, EventRecorder } from '../../kubernetes/index.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
import {
  applyFailurePolicy,
  mayBlock,
  readWebhookConfiguration,
  webhookConfigurations,
  type WebhookConfiguration,
} from './webhook-configuration.ts';
import { monotonicNow } from '../../time/clock.ts';
import type { EndpointWatch } from './endpoint-watch.ts';
import { readReadyEndpoints, type ServiceName } from './endpoints.ts';

export interface WatchdogOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** The webhook's Service. */
  readonly service: ServiceName;
  /** Milliseconds without a ready endpoint after which writes are admitted. */
  readonly patience: number;
  /** Notices changes of the endpoints. Without it, they are read in each round. */
  readonly watch?: Pick<EndpointWatch, 'isLive' | 'onChange'>;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** The last observation of the watchdog. */
export interface Sight {
  readonly readyEndpoints: number;
  readonly mayBlock: boolean;
}

/** Milliseconds between rounds, and without an observation until the watchdog reports a problem. */
const interval = 1_000;
/**
 * Milliseconds between observations while the watch reports no change: a connection that was lost silently must not delay the watchdog for
 * longer.
 */
const quietInterval = 5_000;
const blindAfter = 30_000;
/** Milliseconds between reads of the configuration while an endpoint is ready: they only show that it can be read. */
const configurationInterval = 10_000;

/** Returns since when there is no ready endpoint under failurePolicy Fail; `undefined` if there is one, or if no write is blocked. */
export function deadSince(before: number | undefined, sight: Sight, now: number): number | undefined {
  return sight.mayBlock && sight.readyEndpoints === 0 ? (before ?? now) : undefined;
}

/**
 * Admits writes if no webhook replica is left to check them. Runs outside the webhook's own pods and only ever sets
 * Ignore. The webhook itself changes back to Fail after it is proven to work.
 */
export class Watchdog {
  private readonly options: WatchdogOptions;
  private readonly now: () => number;
  private readonly released;
  private deadSince: number | undefined;
  private sight: Sight | undefined;
  private lookedAt: number;
  private configuration: WebhookConfiguration | undefined;
  private configurationReadAt: number | undefined;
  private haveEndpointsChanged = false;

  constructor(options: WatchdogOptions) {
    this.options = options;
    this.now = options.now ?? monotonicNow;
    this.lookedAt = this.now();
    const { metrics } = options;
    this.released = metrics
      .counter({
        name: 'watchdog_released_total',
        help: 'Times the watchdog set failurePolicy to Ignore because no webhook pod was ready.',
        labels: [],
      })
      .at();
    metrics.observed(
      {
        name: 'watchdog_ready_endpoints',
        help: 'Ready endpoints of the webhook as observed by the watchdog.',
        labels: [],
      },
      () => (this.sight === undefined ? [] : [{ labels: [], value: this.sight.readyEndpoints }]),
    );
  }

  start(): Rounds {
    const { log, watch } = this.options;
    return startRounds(() => this.round(), {
      longest: interval,
      retry: interval,
      onError: (err) => log.warn({ err }, 'cannot check the webhook, will retry'),
      wakeOn: watch === undefined ? [] : [(wake) => watch.onChange(() => this.noteChange(wake))],
    });
  }

  /** The problems that keep the watchdog from working; empty if there are none. */
  problems(): readonly string[] {
    const blind = this.now() - this.lookedAt;
    return this.sight !== undefined && blind < blindAfter
      ? []
      : [`no endpoints of the webhook observed for ${Math.round(blind / 1000)} s`];
  }

  /**
   * Observes once, unless an endpoint was ready and nothing has changed since. Sets Ignore if it is time. Returns the milliseconds until
   * the next round.
   *
   * @throws if endpoints or configuration cannot be read or written; the state stays unchanged
   */
  async round(): Promise<number> {
    if (this.isQuiet()) return interval;
    const { patience } = this.options;
    this.haveEndpointsChanged = false;
    const { readyEndpoints, configuration } = await this.observe().catch((error: unknown) => {
      this.haveEndpointsChanged = true;
      throw error;
    });
    this.lookedAt = this.now();
    this.sight = { readyEndpoints, mayBlock: configuration !== undefined && mayBlock(configuration) };
    this.deadSince = deadSince(this.deadSince, this.sight, this.lookedAt);
    if (configuration === undefined || this.deadSince === undefined) return interval;
    if (this.lookedAt - this.deadSince >= patience) await this.release(configuration);
    return interval;
  }

  private async observe(): Promise<{
    readonly readyEndpoints: number;
    readonly configuration: WebhookConfiguration | undefined;
  }> {
    const { client, service } = this.options;
    const readyEndpoints = await readReadyEndpoints(client, service);
    return { readyEndpoints, configuration: await this.configurationFor(readyEndpoints) };
  }

  private noteChange(wake: () => void): void {
    this.haveEndpointsChanged = true;
    wake();
  }

  private isQuiet(): boolean {
    const { sight, haveEndpointsChanged, options } = this;
    if (sight === undefined || sight.readyEndpoints === 0 || haveEndpointsChanged) return false;
    return options.watch?.isLive === true && this.now() - this.lookedAt < quietInterval;
  }

  /** The configuration: the current one if no endpoint is ready, otherwise one that is read from time to time. */
  private async configurationFor(readyEndpoints: number): Promise<WebhookConfiguration | undefined> {
    const { client, configuration: name } = this.options;
    const now = this.now();
    const isRecent = this.configurationReadAt !== undefined && now - this.configurationReadAt < configurationInterval;
    if (readyEndpoints > 0 && isRecent) return this.configuration;
    this.configuration = await readWebhookConfiguration(client, name);
    this.configurationReadAt = now;
    return this.configuration;
  }

  private async release(configuration: WebhookConfiguration): Promise<void> {
    const { client, log, events, service, patience } = this.options;
    if ((await applyFailurePolicy(client, configuration, 'Ignore')) === 'conflict') return;
    this.deadSince = undefined;
    this.released.value += 1;
    log.warn(
      { configuration: configuration.name, service, patience },
      'no webhook pod is ready, failurePolicy set to Ignore',
    );
    const { apiVersion, kind } = webhookConfigurations;
    events.record({
      regarding: { apiVersion, kind, name: configuration.name, uid: configuration.uid },
      type: 'Warning',
      reason: 'FailurePolicyIgnore',
      action: 'Released',
      note: `Service "${service.namespace}/${service.name}" had no ready pod for ${patience / 1000} s. The API server admits writes without validation until the webhook is ready.`,
    });
  }
}
