import type { FailurePolicy } from '../../core/admission/settings.ts';
import type { ProbeOutcome } from './probe.ts';

/** The state that is kept between probes. */
export interface ProbeRecord {
  /** The failurePolicy under which the probes were sent. */
  readonly under: FailurePolicy | undefined;
  /** Consecutive probes that the webhook denied, as it should. */
  readonly proven: number;
  /** Consecutive probes that did not reach the webhook. */
  readonly broken: number;
}

export const noProbes: ProbeRecord = { under: undefined, proven: 0, broken: 0 };

/** Consecutive probes. One probe tests one API server and one replica, so several are required before writes can be blocked. */
const enoughProof = 3;
const enoughFailures = 3;

/** A change of the failurePolicy and its reason. `reason` is one word for events and metrics. */
export interface FailurePolicyStep {
  readonly to: FailurePolicy;
  readonly reason: 'Proven' | 'Unreachable' | 'NotWanted';
  readonly message: string;
}

/** Restarts the counts if the failurePolicy differs from the previous probe: it was changed, so the proof is void. */
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
 * Returns the required change of the failurePolicy, if any. It becomes Fail only if that is wanted and proven, and
 * Ignore if Fail is no longer wanted or the webhook does not respond.
 */
export function decideFailurePolicy(
  wanted: FailurePolicy,
  { under, proven, broken }: ProbeRecord,
): FailurePolicyStep | undefined {
  if (under === 'Fail' && wanted === 'Ignore') {
    return { to: 'Ignore', reason: 'NotWanted', message: 'The settings request failurePolicy Ignore.' };
  }
  if (under === 'Fail' && broken >= enoughFailures) {
    return {
      to: 'Ignore',
      reason: 'Unreachable',
      message: `${broken} consecutive probes did not reach the webhook. The API server admits writes without validation until the webhook answers.`,
    };
  }
  if (under === 'Ignore' && wanted === 'Fail' && proven >= enoughProof) {
    return {
      to: 'Fail',
      reason: 'Proven',
      message: `The webhook denied ${proven} consecutive probes as expected. The API server now rejects writes that the webhook cannot validate.`,
    };
  }
  return undefined;
}
