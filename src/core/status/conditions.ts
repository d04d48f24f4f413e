/** A condition without times: whoever writes it adds lastTransitionTime. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly observedGeneration: number;
}

/** How a condition turns out. The message is empty where there is nothing to say. */
export type Outcome = Pick<Condition, 'status' | 'reason' | 'message'>;

export function isTrue(reason: string, message = ''): Outcome {
  return { status: 'True', reason, message };
}

export function isFalse(reason: string, message: string): Outcome {
  return { status: 'False', reason, message };
}

export function isUnknown(reason: string, message: string): Outcome {
  return { status: 'Unknown', reason, message };
}

/** Conditions of one observation, in the order given; all carry the same generation, so that none looks stale. */
export function conditionsAt(generation: number, outcomes: Readonly<Record<string, Outcome>>): readonly Condition[] {
  return Object.entries(outcomes).map(([type, { status, reason, message }]) => ({ type, status, reason, message, observedGeneration: generation }));
}

const shown = 3;

/** Several messages as one text: the first few, and how many more there are. The API server allows 32768 characters. */
export function joinMessages(messages: readonly string[]): string {
  const distinct = [...new Set(messages)];
  const more = distinct.length - shown;
  const text = distinct.slice(0, shown).join(' ');
  return (more > 0 ? `${text} (${more} more)` : text).slice(0, 32_000);
}
