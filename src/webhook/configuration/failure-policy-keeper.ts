import { startRounds, type Rounds } from '../../certificates/index.ts';
import type { FailurePolicy } from '../../core/admission/settings.ts';
import type { ApiClient, EventRecorder } from '../../kubernetes/index.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
import {
  decideFailurePolicy,
  noProbes,
  recordProbe,
  type FailurePolicyStep,
  type ProbeRecord,
} from './failure-policy.ts';
import { readProbeOutcome, sendProbe, type ProbeOutcome } from './probe.ts';
import {
  applyFailurePolicy,
  failurePolicyOf,
  mayBlock,
  readWebhookConfiguration,
  webhookConfigurations,
  type WebhookConfiguration,
} from './webhook-configuration.ts';

export interface FailurePolicyOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** The failurePolicy requested by the current settings. */
  readonly wanted: () => FailurePolicy;
  /** Milliseconds between probes. */
  readonly interval?: number;
}

/** Milliseconds between probes when no change is pending; otherwise a fifth of it. */
const defaultInterval = 10_000;

/**
 * Changes the failurePolicy from Ignore to Fail after probes have proven that the webhook works, and back. Intended for
 * the holder of a lease. Concurrent instances reach the same decision and write with optimistic locking.
 */
export class FailurePolicyKeeper {
  private readonly options: FailurePolicyOptions;
  private readonly counts: ReturnType<typeof defineMetrics>;
  private record: ProbeRecord = noProbes;
  private present: FailurePolicy | undefined;
  private last: ProbeOutcome['type'] | undefined;

  constructor(options: FailurePolicyOptions) {
    this.options = options;
    this.counts = defineMetrics(options.metrics, () => this.present);
  }

  /** Probes until `stop`. Can be started again, for another term as leader. */
  start(): Rounds {
    this.record = noProbes;
    const { log, interval = defaultInterval } = this.options;
    return startRounds(() => this.round(), {
      longest: interval,
      retry: 1_000,
      onError: (err) => log.warn({ err }, 'cannot reconcile failurePolicy, will retry'),
    });
  }

  /**
   * Probes once and changes the failurePolicy if necessary. Returns the milliseconds until the next round.
   *
   * @throws if the configuration cannot be read or written
   */
  async round(): Promise<number> {
    const { client, configuration: name, wanted, interval = defaultInterval } = this.options;
    const answer = await sendProbe(client);
    // Read after the probe: if it changes in between, the write is a conflict or the proof is void.
    const configuration = await readWebhookConfiguration(client, name);
    this.note(readProbeOutcome(answer, configuration), configuration);
    if (configuration === undefined) return interval;
    const step = decideFailurePolicy(wanted(), this.record);
    if (step !== undefined) await this.take(step, configuration);
    return wanted() === this.present ? interval : interval / 5;
  }

  private note(outcome: ProbeOutcome, configuration: WebhookConfiguration | undefined): void {
    const { log } = this.options;
    this.counts.probes.at(outcome.type).value += 1;
    if (outcome.type !== this.last) log.info({ probe: outcome }, 'probe of the webhook');
    this.last = outcome.type;
    this.present = configuration && presentPolicy(configuration, this.options.wanted());
    if (this.present !== undefined) this.record = recordProbe(this.record, this.present, outcome);
  }

  private async take(step: FailurePolicyStep, configuration: WebhookConfiguration): Promise<void> {
    const { client, log, events } = this.options;
    if ((await applyFailurePolicy(client, configuration, step.to)) === 'conflict') return;
    this.present = step.to;
    this.record = noProbes;
    this.counts.changes.at(step.to, step.reason).value += 1;
    log.warn({ failurePolicy: step.to, reason: step.reason }, 'failurePolicy changed');
    const { apiVersion, kind } = webhookConfigurations;
    events.record({
      regarding: { apiVersion, kind, name: configuration.name, uid: configuration.uid },
      type: step.reason === 'Unreachable' ? 'Warning' : 'Normal',
      reason: `FailurePolicy${step.to}`,
      action: step.reason,
      note: step.message,
    });
  }
}

/** The current policy. If the webhooks of one configuration differ, it is the policy that is not wanted. */
function presentPolicy(configuration: WebhookConfiguration, wanted: FailurePolicy): FailurePolicy {
  if (wanted === 'Fail') return failurePolicyOf(configuration);
  return mayBlock(configuration) ? 'Fail' : 'Ignore';
}

function defineMetrics(metrics: Metrics, present: () => FailurePolicy | undefined) {
  metrics.observed(
    {
      name: 'webhook_failure_policy',
      help: 'Current failurePolicy as observed by the leader; 1 for the current one.',
      labels: ['policy'],
    },
    () => {
      const policy = present();
      return policy === undefined
        ? []
        : (['Ignore', 'Fail'] as const).map((each) => ({ labels: [each], value: each === policy ? 1 : 0 }));
    },
  );
  const probes = metrics.counter({
    name: 'webhook_probes_total',
    help: 'Probes through the API server, by outcome.',
    labels: ['outcome'],
  });
  const changes = metrics.counter({
    name: 'webhook_failure_policy_changes_total',
    help: 'Changes of the failurePolicy.',
    labels: ['to', 'reason'],
  });
  // Present from the start at 0, because an alert uses this series: Prometheus sees no increase in a series that begins with 1.
  changes.at('Ignore', 'Unreachable');
  return { probes, changes };
}
