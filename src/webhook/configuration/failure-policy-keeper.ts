import { startRounds, type Rounds } from '../../certificates/index.ts';
import type { FailurePolicy } from '../../core/admission/settings.ts';
import type { ApiClient, EventRecorder } from '../../kubernetes/index.ts';
import type { Logger, Metrics } from '../../telemetry/index.ts';
import { decideFailurePolicy, noProbes, recordProbe, type FailurePolicyStep, type ProbeRecord } from './failure-policy.ts';
import { readProbeOutcome, sendProbe, type ProbeOutcome } from './probe.ts';
import { applyFailurePolicy, failurePolicyOf, mayBlock, readWebhookConfiguration, webhookConfigurations, type WebhookConfiguration } from './webhook-configuration.ts';

export interface FailurePolicyOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly events: Pick<EventRecorder, 'record'>;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /** What the settings ask for, now. */
  readonly wanted: () => FailurePolicy;
  /** Milliseconds between probes. */
  readonly interval?: number;
}

/** Milliseconds between probes once nothing has to change; before that it is a fifth of it. */
const defaultInterval = 10_000;

/**
 * Brings the failurePolicy from Ignore to Fail once the webhook is proven to work, and back. Meant for the holder of a
 * lease; several at once decide alike and write under an optimistic lock.
 */
export class FailurePolicyKeeper {
  readonly #options: FailurePolicyOptions;
  readonly #counts: ReturnType<typeof defineMetrics>;
  #record: ProbeRecord = noProbes;
  #present: FailurePolicy | undefined;
  #last: ProbeOutcome['type'] | undefined;

  constructor(options: FailurePolicyOptions) {
    this.#options = options;
    this.#counts = defineMetrics(options.metrics, () => this.#present);
  }

  /** Probes until `stop`. Afterwards it may be started again, for another term as leader. */
  start(): Rounds {
    this.#record = noProbes;
    const { log, interval = defaultInterval } = this.#options;
    return startRounds(() => this.round(), { longest: interval, retry: 1_000, onError: (err) => log.warn({ err }, 'cannot reconcile failurePolicy, will retry') });
  }

  /**
   * Probes once and changes the failurePolicy where it has to. Returns after how many milliseconds to look again.
   *
   * @throws where the configuration cannot be read or written
   */
  async round(): Promise<number> {
    const { client, configuration: name, wanted, interval = defaultInterval } = this.#options;
    const answer = await sendProbe(client);
    // Read after the probe: a change in between then makes the write a conflict, or the proof void.
    const configuration = await readWebhookConfiguration(client, name);
    this.#note(readProbeOutcome(answer, configuration), configuration);
    if (configuration === undefined) return interval;
    const step = decideFailurePolicy(wanted(), this.#record);
    if (step !== undefined) await this.#take(step, configuration);
    return wanted() === this.#present ? interval : interval / 5;
  }

  #note(outcome: ProbeOutcome, configuration: WebhookConfiguration | undefined): void {
    const { log } = this.#options;
    this.#counts.probes.at(outcome.type).value += 1;
    if (outcome.type !== this.#last) log.info({ probe: outcome }, 'probe of the webhook');
    this.#last = outcome.type;
    this.#present = configuration && presentPolicy(configuration, this.#options.wanted());
    if (this.#present !== undefined) this.#record = recordProbe(this.#record, this.#present, outcome);
  }

  async #take(step: FailurePolicyStep, configuration: WebhookConfiguration): Promise<void> {
    const { client, log, events } = this.#options;
    const written = await applyFailurePolicy(client, configuration, step.to);
    if (written.type === 'conflict' || written.type === 'notFound') return;
    if (written.type !== 'ok') throw new Error(written.message);
    this.#present = step.to;
    this.#record = noProbes;
    this.#counts.changes.at(step.to, step.reason).value += 1;
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

/** Webhooks of one configuration may differ: then it is as if none had what is wanted. */
function presentPolicy(configuration: WebhookConfiguration, wanted: FailurePolicy): FailurePolicy {
  if (wanted === 'Fail') return failurePolicyOf(configuration);
  return mayBlock(configuration) ? 'Fail' : 'Ignore';
}

function defineMetrics(metrics: Metrics, present: () => FailurePolicy | undefined) {
  metrics.observed({ name: 'webhook_failure_policy', help: 'Current failurePolicy as observed by the leader; 1 for the current one.', labels: ['policy'] }, () => {
    const policy = present();
    return policy === undefined ? [] : (['Ignore', 'Fail'] as const).map((each) => ({ labels: [each], value: each === policy ? 1 : 0 }));
  });
  const probes = metrics.counter({ name: 'webhook_probes_total', help: 'Probes through the API server, by outcome.', labels: ['outcome'] });
  const changes = metrics.counter({ name: 'webhook_failure_policy_changes_total', help: 'Changes of the failurePolicy.', labels: ['to', 'reason'] });
  // There from the start at 0: Prometheus sees no increase in a series that begins with 1, and this one is alerted on.
  changes.at('Ignore', 'Unreachable');
  return { probes, changes };
}
