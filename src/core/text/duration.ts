import { quote } from './display.ts';
import { remember } from './remember.ts';

/** A duration in whole milliseconds, or the problem with the text and the fix. */
export type ParsedDuration =
  | { readonly ok: true; readonly milliseconds: number }
  | { readonly ok: false; readonly problem: string };

export type FormattedDuration =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

const unitMilliseconds: ReadonlyMap<string, number> = new Map([
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]);

const maximumDigits = 5;
const maximumComponents = 4;
const maximumHours = 99_999;

// One match per component, anchored at the end of the previous one: linear in the length of the text.
const digitsAt = /[0-9]+/y;
// Matches more letters than any unit has, so that `ms` is never read as `m`, and messages name the beginning of a wrong unit.
const lettersAt = /\p{L}{1,32}/uy;

/**
 * Parses a Gateway API duration (GEP-2257): one to four components, each with one to five decimal digits and a unit (`h`,
 * `m`, `s`, `ms`). Units may repeat and come in any order; the duration is the sum. Zero is valid.
 */
export const parseDuration: (text: string) => ParsedDuration = remember(parse);

/** Returns the milliseconds of a duration; `undefined` without one. A rule reports invalid durations, which count as absent. */
export function millisecondsOf(text: string | undefined): number | undefined {
  const parsed = text === undefined ? undefined : parseDuration(text);
  return parsed?.ok === true ? parsed.milliseconds : undefined;
}

function parse(text: string): ParsedDuration {
  if (text === '') return failure('it is empty', 'Use a number and a unit, for example 10s, or 0s for zero');
  let milliseconds = 0;
  let position = 0;
  for (let components = 1; position < text.length; components += 1) {
    const component = readComponent(text, position);
    if (typeof component === 'string') return { ok: false, problem: component };
    if (components > maximumComponents) {
      return failure(
        `it has more than ${maximumComponents} parts`,
        advice(text, 'Add parts of the same unit together, for example 3h for 1h2h'),
      );
    }
    milliseconds += component.milliseconds;
    position = component.end;
  }
  return { ok: true, milliseconds };
}

/**
 * Formats milliseconds in the standard form of GEP-2257: descending units without repetition, each as large as possible,
 * zero as `0s`. Fails for values without such a form: negative numbers, fractions of a millisecond, and 100000 hours or more
 * (possible as a sum of components, but not as one component of hours).
 */
export function formatDuration(milliseconds: number): FormattedDuration {
  if (!Number.isInteger(milliseconds))
    return { ok: false, problem: `${milliseconds} is not a whole number of milliseconds` };
  if (milliseconds < 0) return { ok: false, problem: 'a duration cannot be negative' };
  if (milliseconds >= (maximumHours + 1) * 3_600_000) {
    return { ok: false, problem: `it is longer than ${maximumHours} hours, which the standard format cannot express` };
  }
  let text = '';
  let rest = milliseconds;
  for (const [unit, size] of unitMilliseconds) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return { ok: true, text: text === '' ? '0s' : text };
}

/** Whether `text` is a duration in the standard form of GEP-2257, which users SHOULD use. */
export const isStandardForm: (text: string) => boolean = remember((text) => {
  const parsed = parseDuration(text);
  if (!parsed.ok) return false;
  const formatted = formatDuration(parsed.milliseconds);
  return formatted.ok && formatted.text === text;
});

interface Component {
  readonly milliseconds: number;
  readonly end: number;
}

/** The component at `start`, or the problem with it. */
function readComponent(text: string, start: number): Component | string {
  const digits = textAt(digitsAt, text, start);
  if (digits === '') return problemInsteadOfDigit(text, start);
  const afterDigits = start + digits.length;
  const unit = textAt(lettersAt, text, afterDigits);
  if (unit === '') return problemInsteadOfUnit(text, afterDigits, digits);
  const size = unitMilliseconds.get(unit);
  if (size === undefined) return unitProblem(text, unit);
  if (digits.length > maximumDigits) {
    return sentence(
      `the number ${quote(digits, 16)} has more than ${maximumDigits} digits`,
      advice(text, 'Use a larger unit, for example 100s for 100000ms'),
    );
  }
  return { milliseconds: Number(digits) * size, end: afterDigits + unit.length };
}

function problemInsteadOfDigit(text: string, position: number): string {
  const character = characterAt(text, position);
  const common = commonProblem(text, character);
  if (common !== undefined) return common;
  if (character === '-') return sentence('a duration cannot be negative', 'Remove the sign, or use 0s for zero');
  if (character === '+') return sentence('a duration has no sign', advice(text.replace('+', ''), 'Remove the sign'));
  const unit = textAt(lettersAt, text, position);
  if (unit !== '')
    return sentence(
      `the unit ${quote(unit, 16)} has no number before it`,
      `Use a number before each unit, for example 1${unitMilliseconds.has(unit) ? unit : 's'}`,
    );
  return unexpected(character);
}

function problemInsteadOfUnit(text: string, position: number, digits: string): string {
  if (position === text.length) {
    const number = quote(digits, 16);
    if (/^0+$/.test(text)) return sentence(`the number ${number} has no unit`, 'Use 0s');
    const example = digits.length > maximumDigits ? '10' : digits;
    return sentence(
      `the number ${number} has no unit`,
      `Use h, m, s or ms after it, for example ${example}s for seconds`,
    );
  }
  const character = characterAt(text, position);
  return commonProblem(text, character) ?? unexpected(character);
}

/** The problem with a character that is invalid at any position. */
function commonProblem(text: string, character: string): string | undefined {
  if (character === '\n' || character === '\r')
    return sentence('it contains a line break', advice(text, 'Write it on one line, without | or > before it'));
  if (/\s/u.test(character))
    return sentence('it contains a space', advice(text, 'Remove the spaces, for example 1h30m'));
  if (character === '.' || character === ',')
    return sentence('fractions are not allowed', advice(text, 'Use a smaller unit, for example 1s500ms for 1.5s'));
  if (/[^0-9]/u.test(character) && /\p{N}/u.test(character))
    return sentence(`${quote(character)} is not an ASCII digit`, 'Use the digits 0 to 9');
  return undefined;
}

// Both spellings of the micro sign.
const finerUnits: ReadonlySet<string> = new Set(['ns', 'us', '\u00b5s', '\u03bcs']);

function unitProblem(text: string, unit: string): string {
  const shown = `the unit ${quote(unit, 16)}`;
  if (finerUnits.has(unit))
    return sentence(`${shown} is finer than a millisecond`, advice(text, 'Use whole milliseconds, for example 1ms'));
  if (/^(d|w|y)$/.test(unit))
    return sentence(`${shown} is larger than an hour`, advice(text, 'Use hours, for example 24h for a day'));
  if (unitMilliseconds.has(unit.toLowerCase()))
    return sentence(`${shown} is in upper case`, `Use ${unit.toLowerCase()}`);
  return sentence(`${shown} is unknown`, advice(text, 'Use h, m, s or ms'));
}

function unexpected(character: string): string {
  return sentence(
    `the character ${quote(character)} is not allowed in a duration`,
    'Use numbers and units only, for example 1h30m',
  );
}

// Units of other notations, recognized only to suggest the probable meaning.
const foreignUnits: ReadonlyMap<string, number> = new Map([
  ...unitMilliseconds,
  ...named(604_800_000, ['w', 'week', 'weeks']),
  ...named(86_400_000, ['d', 'day', 'days']),
  ...named(3_600_000, ['hr', 'hrs', 'hour', 'hours']),
  ...named(60_000, ['min', 'mins', 'minute', 'minutes']),
  ...named(1_000, ['sec', 'secs', 'second', 'seconds']),
  ...named(1, ['msec', 'msecs', 'millis', 'millisecond', 'milliseconds']),
  ...named(1e-3, ['us', 'µs', 'μs']),
  ...named(1e-6, ['ns']),
]);

function named(size: number, names: readonly string[]): [string, number][] {
  return names.map((name) => [name, size]);
}

// Linear: every number consumes at least one character, and the rest of a component never starts with a digit.
const foreignComponentAt = /\s*([0-9]{1,15}(?:[.,][0-9]{1,9})?)\s*(\p{L}{1,32})\s*/uy;

/** Texts of more components have no probable meaning. */
const mostAdvised = 64;

/** The standard form of the probable meaning, as an instruction; `otherwise` if the meaning is unclear. */
function advice(text: string, otherwise: string): string {
  let milliseconds = 0;
  foreignComponentAt.lastIndex = 0;
  for (let components = 0; foreignComponentAt.lastIndex < text.length; components += 1) {
    if (components === mostAdvised) return otherwise;
    const [, number, unit] = foreignComponentAt.exec(text) ?? [];
    const size = unit === undefined ? undefined : foreignUnits.get(unit);
    if (number === undefined || size === undefined) return otherwise;
    milliseconds += Number(number.replace(',', '.')) * size;
  }
  // Sums of decimal fractions such as 1.1 s have rounding errors far below a nanosecond.
  const formatted = formatDuration(Math.round(milliseconds * 1e6) / 1e6);
  return formatted.ok ? `Use "${formatted.text}"` : otherwise;
}

function textAt(sticky: RegExp, text: string, position: number): string {
  sticky.lastIndex = position;
  return sticky.exec(text)?.[0] ?? '';
}

function characterAt(text: string, position: number): string {
  return String.fromCodePoint(text.codePointAt(position) ?? 0);
}

function sentence(wrong: string, instead: string): string {
  return `${wrong}. ${instead}`;
}

function failure(wrong: string, instead: string): ParsedDuration {
  return { ok: false, problem: sentence(wrong, instead) };
}
