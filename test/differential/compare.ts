import type { Path } from '../../src/core/resources/path.ts';
import { maximumProblems } from '../../src/core/schema/problem.ts';
import type { Cause, WriteOutcome } from '../../src/kubernetes/index.ts';
import type { Reason } from './subject.ts';

/** The places that the API server names in a refusal, and whether it looked no further than the schema. */
export interface Refusal {
  readonly fields: readonly string[];
  readonly rulesSkipped: boolean;
  readonly message: string;
}

/** What the API server made of an object: taken, or refused with places. Throws for an answer that says neither. */
export function refusalOf(outcome: WriteOutcome): Refusal | undefined {
  if (outcome.type === 'ok') return undefined;
  if (outcome.type !== 'invalid' || outcome.causes.length === 0)
    throw new Error(`the API server gave no verdict: ${outcome.type}: ${'message' in outcome ? outcome.message : ''}`);
  const fields = outcome.causes.map(fieldOf).filter((field) => field !== '');
  return {
    fields,
    rulesSkipped: outcome.causes.some(({ message }) => message.includes(skipped)),
    message: outcome.message,
  };
}

const skipped = 'some validation rules were not checked';

function fieldOf({ field, message }: Cause): string {
  // Of several repetitions of a list item only the first is named, where we name each.
  if (message.startsWith('Duplicate value')) return field.replace(/\[\d+\]$/, '');
  if (field !== '<nil>') return field;
  // Alternatives and formats of numbers name their place in the message.
  return /: "([^"]+)" must validate/.exec(message)?.[1] ?? / with format \w+ in (\S+)$/.exec(message)?.[1] ?? '';
}

/** What differs between what we say and what the API server does; `undefined` where nothing does. */
export function disagreement(reasons: readonly Reason[], refusal: Refusal | undefined): string | undefined {
  if (refusal === undefined)
    return reasons.length === 0
      ? undefined
      : `taken, but we refuse ${reasons.map(({ field, message }) => `${field}: ${message}`).join('; ')}`;
  if (reasons.length === 0) return `refused, but we find nothing: ${refusal.message}`;
  // We stop counting at some point, and the API server does not.
  if (reasons.length >= maximumProblems) return undefined;
  const unexplained = refusal.fields.filter(
    (field) => !reasons.some((reason) => areNested(fieldAt(reason.path), field)),
  );
  if (unexplained.length > 0)
    return `refused at ${unexplained.join(', ')}, where we find nothing (we name ${reasons.map(({ field }) => field).join(', ')}): ${refusal.message}`;
  const seen = reasons.filter(({ from }) => from === 'schema' || !refusal.rulesSkipped);
  const invented = seen.filter(({ path }) => !refusal.fields.some((named) => areNested(fieldAt(path), named)));
  return invented.length === 0
    ? undefined
    : `refused, but not at ${invented.map(({ field, message }) => `${field}: ${message}`).join('; ')}: ${refusal.message}`;
}

/** As the API server writes a place: keys of maps without quotes. */
function fieldAt(path: Path): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('');
}

/** Whether one place is the other, or lies in it: rules are about lists and objects, and we name what is wrong in them. */
function areNested(one: string, other: string): boolean {
  const [outer, inner] = one.length <= other.length ? [one, other] : [other, one];
  return inner.startsWith(outer) && (inner.length === outer.length || '.['.includes(inner[outer.length] ?? ''));
}
