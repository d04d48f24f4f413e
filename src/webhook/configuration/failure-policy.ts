import type { FailurePolicy } from '../../core/admission/settings.ts';
import type { ProbeOutcome } from './probe.ts';

/** What is remembered from probe to probe. */
export interface ProbeRecord {
  /** The failurePolicy under which the probes were sent. */
  readonly under: FailurePolicy | undefined;
  /** Probes in a row that the webhook denied, as it should. */
  readonly proven: number;
  /** Probes in a row that did not reach the webhook. */
  readonly broken: number;
}

export const noProbes: ProbeRecord = { under: undefined, proven: 0, broken: 0 };

/** In a row. One probe shows one API server and one replica, so several are asked before anybody can be blocked. */
const enoughProof = 3;
const enoughFailures = 3;

/** A change of the failurePolicy, and why. `reason` is one word for events and metrics. */
export interface FailurePolicyStep {
  readonly to: FailurePolicy;
  readonly reason: 'Proven' | 'Unreachable' | 'NotWanted';
  readonly message: string;
}

/** A probe under another failurePolicy than the one before begins anew: somebody changed it, so the proof is void. */
export function recordProbe(record: ProbeRecord, under: FailurePolicy, outcome: ProbeOutcome): ProbeRecord {
  const before = record.under === under ? record : noProbes;
  switch (outcome.type) {
    case 'denied':
      return { under, proven: before.proven + 1, broken: 0 };
    case 'admitted':
    case 'failed':
      return { under, proven: 0, broken: before.broken + 1 };
    case 'suspended':
    case 'inconclusive':
      return { under, proven: 0, broken: before.broken };
  }
}

/**
 * Whether the failurePolicy has to change. It becomes Fail only where that is wanted and proven, and Ignore again
 * where it is not wanted any more or the webhook does not answer.
 */
export function decideFailurePolicy(wanted: FailurePolicy, { under, proven, broken }: ProbeRecord): FailurePolicyStep | undefined {
  if (under === 'Fail' && wanted === 'Ignore') {
    return { to: 'Ignore', reason: 'NotWanted', message: 'The settings request failurePolicy Ignore.' };
  }
  if (under === 'Fail' && broken >= enoughFailures) {
    return { to: 'Ignore', reason: 'Unreachable', message: `${broken} consecutive probes did not reach the webhook. The API server admits writes without validation until the webhook answers.` };
  }
  if (under === 'Ignore' && wanted === 'Fail' && proven >= enoughProof) {
    return { to: 'Fail', reason: 'Proven', message: `The webhook denied ${proven} consecutive probes as expected. The API server now rejects writes that the webhook cannot validate.` };
  }
  return undefined;
}
