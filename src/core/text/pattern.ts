import { RE2JS, RE2JSSyntaxException } from 're2js';
import { quote } from './display.ts';

/** A regular expression that matches in time linear in the length of the value. */
export interface Pattern {
  readonly text: string;
  /** Whether the pattern matches the whole value. */
  matches(value: string): boolean;
}

export type CompiledPattern =
  | { readonly ok: true; readonly pattern: Pattern }
  | { readonly ok: false; readonly problem: string };

const maximumLength = 4096;
// Matching takes time in proportion to this number times the length of the value.
const maximumSize = 2_000;

// A memo of a pure function: what it holds never shows in a result, only in the time taken.
const compiled = new Map<string, CompiledPattern>();
const maximumCompiled = 1_000;

/**
 * Compiles a RegularExpression match value. The specification leaves the dialect to implementations; here it is RE2
 * syntax, case-sensitive, and a path, header or query value must match as a whole (`/a` does not match `/ab`),
 * as in implementations built on Envoy. `.` matches no line break. The same text yields the same pattern object for
 * as long as it is in use. The problem says what RE2 lacks and what to write instead.
 */
export function compilePattern(text: string): CompiledPattern {
  const known = compiled.get(text);
  // Taken out and put in again: the map's order is from the least to the most recently used.
  if (known !== undefined) compiled.delete(text);
  const result = known ?? compile(text);
  compiled.set(text, result);
  if (compiled.size > maximumCompiled) {
    const [oldest] = compiled.keys();
    if (oldest !== undefined) compiled.delete(oldest);
  }
  return result;
}

function compile(text: string): CompiledPattern {
  if (text.length > maximumLength) {
    return { ok: false, problem: `it has ${text.length} characters; at most ${maximumLength} are allowed` };
  }
  if (expandedSize(text) > maximumSize) {
    return { ok: false, problem: `it has more than ${maximumSize} parts once its counted repetitions are written out; use smaller counts, or * and +` };
  }
  try {
    const expression = RE2JS.compile(text);
    return { ok: true, pattern: { text, matches: (value) => expression.matches(value) } };
  } catch (error) {
    return { ok: false, problem: explain(text, error) };
  }
}

// An escape, a character class, a counted repetition, or any one character.
const partAt = /\\(?:[xpP]\{[^}]{0,64}\}|.)|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{(?<least>[0-9]+)(?:,(?<most>[0-9]*))?\}|./gsu;

/**
 * How many parts the expression has once counted repetitions are written out, as a compiler would: known before
 * compiling, so that a few characters such as `((x{100}){100}){100}` cost nothing.
 */
function expandedSize(text: string): number {
  const outer: number[] = [];
  let size = 0;
  let last = 0;
  for (const match of text.matchAll(partAt)) {
    const count = Math.max(Number(match.groups?.['least'] ?? 0), Number(match.groups?.['most'] ?? 0));
    if (match.groups?.['least'] !== undefined) last *= Math.max(count, 1);
    else if (match[0] === '(') {
      outer.push(size + last);
      size = 0;
      last = 0;
    } else if (match[0] === ')') {
      last += size + 2;
      size = outer.pop() ?? 0;
    } else {
      size += last;
      last = 1;
    }
  }
  return outer.reduce((sum, part) => sum + part, size + last);
}

const lacking: readonly { readonly sign: RegExp; readonly problem: string }[] = [
  { sign: /\(\?<?[=!]/, problem: 'RE2 has no look-ahead or look-behind such as (?=…) or (?!…); list the alternatives with |, or use several matches or rules' },
  { sign: /\\(?:[1-9]|k[<{'])/, problem: 'RE2 has no back-references such as \\1; write the repeated part out' },
  { sign: /\(\?>|[*+?}]\+/, problem: 'RE2 has no atomic groups (?>…) or possessive repetitions such as a++; leave the extra sign out, RE2 never backtracks' },
];

function explain(text: string, error: unknown): string {
  const problem = lacking.find(({ sign }) => sign.test(text))?.problem;
  if (problem !== undefined) return problem;
  return `${detail(error)}; correct it in RE2 syntax, with \\ before a sign that is meant literally`;
}

function detail(error: unknown): string {
  if (!(error instanceof RE2JSSyntaxException)) return 'it cannot be read';
  return error.input === null ? error.error : `${error.error} at ${quote(error.input, 32)}`;
}
