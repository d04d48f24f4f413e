import { startRounds, type Rounds } from '../../certificates/index.ts';
import { listOf, recordOf } from '../../core/text/record.ts';
import { pathOf, type ApiClient, type ApiRequest, type EventRecorder, type ResourceType } from '../../kubernetes/index.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
import { applyFailurePolicy, mayBlock, readWebhookConfiguration, webhookConfigurations, type WebhookConfiguration } from './webhook-configuration.ts';

const endpointSlices: ResourceType = { apiVersion: 'discovery.k8s.io/v1', kind: 'EndpointSlice', plural: 'endpointslices', namespaced: true };

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

export interface WatchdogOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** The webhook's Service. */
  readonly service: ServiceName;
  /** Milliseconds without a ready endpoint after which writes are let through. */
  readonly patience: number;
  /** Milliseconds on a clock that never jumps. */
  readonly now?: () => number;
}

/** What the watchdog saw last. */
export interface Sight {
  readonly readyEndpoints: number;
  readonly mayBlock: boolean;
}

/** Milliseconds between looks, and after which a watchdog that saw nothing is not well itself. */
const interval = 1_000;
const blindAfter = 30_000;

/**
 * Since when there is no ready endpoint under failurePolicy Fail; `undefined` where there is one, or where nobody is
 * blocked.
 */
export function deadSince(before: number | undefined, sight: Sight, now: number): number | undefined {
  return sight.mayBlock && sight.readyEndpoints === 0 ? (before ?? now) : undefined;
}

/** Asks for the EndpointSlices of a Service. */
export function endpointSlicesOf({ namespace, name }: ServiceName): ApiRequest {
  return { path: pathOf(endpointSlices, { namespace }), query: { labelSelector: `kubernetes.io/service-name=${name}` } };
}

/** How many endpoints of these EndpointSlices can take a call. Reads any JSON. */
export function countReady(slices: unknown): number {
  const { items } = recordOf(slices);
  const endpoints = listOf(items).flatMap((slice) => listOf(recordOf(slice)['endpoints']));
  // As the API has it: what is not known counts as ready.
  return endpoints.filter((endpoint) => recordOf(recordOf(endpoint)['conditions'])['ready'] !== false).length;
}

/**
 * Lets writes through when nobody is left who could check them. It runs outside the webhook's own pods and only ever
 * sets Ignore: the way back to Fail is the webhook's, once it is proven to work.
 */
export class Watchdog {
  readonly #options: WatchdogOptions;
  readonly #now: () => number;
  readonly #released;
  #deadSince: number | undefined;
  #sight: Sight | undefined;
  #lookedAt: number;

  constructor(options: WatchdogOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
    this.#lookedAt = this.#now();
    const { metrics } = options;
    this.#released = metrics.counter({ name: 'watchdog_released_total', help: 'Times the watchdog set failurePolicy to Ignore because no webhook pod was ready.', labels: [] }).at();
    metrics.observed({ name: 'watchdog_ready_endpoints', help: 'Ready endpoints of the webhook as observed by the watchdog.', labels: [] }, () =>
      this.#sight === undefined ? [] : [{ labels: [], value: this.#sight.readyEndpoints }],
    );
  }

  start(): Rounds {
    const { log } = this.#options;
    return startRounds(() => this.round(), { longest: interval, retry: interval, onError: (err) => log.warn({ err }, 'cannot check the webhook, will retry') });
  }

  /** Why it cannot do its work; none while it can. */
  problems(): readonly string[] {
    const blind = this.#now() - this.#lookedAt;
    return this.#sight !== undefined && blind < blindAfter ? [] : [`no endpoints of the webhook observed for ${Math.round(blind / 1000)} s`];
  }

  /**
   * Looks once, and sets Ignore where it is time. Returns after how many milliseconds to look again.
   *
   * @throws where endpoints or configuration cannot be read or written: then nothing is concluded
   */
  async round(): Promise<number> {
    const { client, configuration: name, service, patience } = this.#options;
    const [configuration, slices] = await Promise.all([
      readWebhookConfiguration(client, name),
      client.request(endpointSlicesOf(service)),
    ]);
    this.#lookedAt = this.#now();
    this.#sight = { readyEndpoints: countReady(slices), mayBlock: configuration !== undefined && mayBlock(configuration) };
    this.#deadSince = deadSince(this.#deadSince, this.#sight, this.#lookedAt);
    if (configuration === undefined || this.#deadSince === undefined) return interval;
    if (this.#lookedAt - this.#deadSince >= patience) await this.#release(configuration);
    return interval;
  }

  async #release(configuration: WebhookConfiguration): Promise<void> {
    const { client, log, events, service, patience } = this.#options;
    const written = await applyFailurePolicy(client, configuration, 'Ignore');
    if (written.type === 'conflict' || written.type === 'notFound') return;
    if (written.type !== 'ok') throw new Error(written.message);
    this.#deadSince = undefined;
    this.#released.value += 1;
    log.warn({ configuration: configuration.name, service, patience }, 'no webhook pod is ready, failurePolicy set to Ignore');
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
