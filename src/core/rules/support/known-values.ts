import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import type { ReportFinding } from '../engine/rule.ts';

/** A value of an object for messages such as "The match type "Prefix" is unknown". */
export interface CheckedValue<T> {
  /** The name of the field, without article. */
  readonly what: string;
  readonly value: T | undefined;
  /** Called for a finding only. Almost all values are supported. */
  readonly path: () => Path;
}

const outcomes: Readonly<Partial<Record<string, string>>> = {
  listener: 'the listener is not served',
  listenerFilter: 'requests of the listener get an error',
  match: 'the match matches nothing',
  backendRef: 'its share of requests gets an error',
  rule: 'requests that match this rule get an error',
};

/** Reports a value that is not supported. An absent value has a default, or is checked elsewhere. */
export function expectOneOf(
  known: readonly string[],
  { what, value, path: pathOf }: CheckedValue<string>,
  report: ReportFinding,
): void {
  if (value === undefined || known.includes(value)) return;
  const path = pathOf();
  const consequence = unsupportedValueAt(path);
  report({
    path,
    value: display(value),
    consequence,
    message: `Unsupported ${what} ${quote(value)}: ${outcomes[consequence.scope] ?? 'it is ignored'}. ${advice(value, known)}`,
  });
}

/** Reports a number outside of `bounds`, which are inclusive. */
export function expectWithin(
  [from, to]: readonly [from: number, to: number],
  { what, value, path: pathOf }: CheckedValue<number>,
  report: ReportFinding,
): void {
  if (value === undefined || (value >= from && value <= to)) return;
  const path = pathOf();
  const consequence = unsupportedValueAt(path);
  const cure = Number.isFinite(to) ? `between ${from} and ${to}` : `at least ${from}`;
  report({
    path,
    value: String(value),
    consequence,
    message: `Invalid ${what} ${value}: must be ${cure}, so ${outcomes[consequence.scope] ?? 'it is ignored'}.`,
  });
}

/** Returns the supported value that was probably intended, or the list of supported values. */
export function advice(value: string, known: readonly string[]): string {
  const near = nearest(value, known);
  return near === undefined ? `Supported values: ${known.join(', ')}.` : `Did you mean ${near}?`;
}
