import { startRounds, type BundleStore, type Rounds } from '../../certificates/index.ts';
import { FollowedObject } from '../../cluster/followed-object.ts';
import type { ApiClient } from '../../kubernetes/index.ts';
import type { Logger } from '../../telemetry/index.ts';
import { applyWarning, mayBlock, readWebhookConfiguration, webhookConfigurations } from './webhook-configuration.ts';

export interface WarningConfigurationOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  /** The trusted authorities of the ValidatingWebhookConfiguration that validates. They apply to both. */
  readonly bundles: Pick<BundleStore, 'read' | 'onChange'>;
  /** Name of the ValidatingWebhookConfiguration that only warns. */
  readonly configuration: string;
  /** Milliseconds between rounds without a change. */
  readonly interval?: number;
}

const defaultInterval = 60_000;

/**
 * Keeps the configuration that only warns callable and harmless: it trusts the authorities of the validating configuration,
 * whatever manages them there, and has the failurePolicy Ignore. Intended for the holder of a lease. A failure leaves the
 * validating configuration untouched.
 */
export class WarningConfiguration {
  private readonly options: WarningConfigurationOptions;

  constructor(options: WarningConfigurationOptions) {
    this.options = options;
  }

  /** Reconciles until `stop`. Can be started again, for another term as leader. */
  start(): Rounds {
    const { client, log, bundles, configuration: name, interval = defaultInterval } = this.options;
    const followed = new FollowedObject({ client, log }, { type: webhookConfigurations, name });
    return startRounds(() => this.round(), {
      longest: interval,
      retry: 1_000,
      onError: (err) =>
        log.warn({ err, configuration: name }, 'cannot reconcile the configuration for warnings, will retry'),
      wakeOn: [(listener) => bundles.onChange(listener), (listener) => followed.onChange(listener)],
    });
  }

  /**
   * Reconciles once. Returns the milliseconds until the next round.
   *
   * @throws if a configuration cannot be read or written
   */
  async round(): Promise<number> {
    const { client, log, bundles, configuration: name, interval = defaultInterval } = this.options;
    const [source, target] = await Promise.all([bundles.read(), readWebhookConfiguration(client, name)]);
    const trusted = source?.certificates ?? [];
    // Without a certificate, calls fail and are ignored, as before.
    if (target === undefined || trusted.length === 0) return interval;
    const isTrusting = target.webhooks.every((webhook) => isSame(webhook.trusted, trusted));
    if (isTrusting && !mayBlock(target)) return interval;
    // Another client has changed it, which starts another round.
    if ((await applyWarning(client, target, trusted)) === 'conflict') return interval;
    log.info({ configuration: name, authorities: trusted.length }, 'configuration for warnings updated');
    return interval;
  }
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  const members = new Set(other);
  return one.length === other.length && one.every((certificate) => members.has(certificate));
}
