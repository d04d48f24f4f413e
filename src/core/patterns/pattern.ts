import { quote } from '../text/display.ts';
import { TooCostly } from './allowance.ts';
import { PrefixComparison } from './prefix.ts';
import { membersOf, weightOf } from './sets.ts';
import { statesOf } from './states.ts';
import { parsePattern, PatternSyntaxError, type ParsedPattern } from './syntax.ts';
import { accepts, shortestAccepted, tableOf, type PatternTable, type ReadCount } from './table.ts';

/** A compiled regular expression that reads each character of a value at most once, whatever the expression. */
export interface Pattern {
  readonly text: string;
  /** Memory of the compiled expression in bytes. */
  readonly bytes: number;
  /** Whether the pattern matches the whole value. `count` is told how many characters were read. */
  matches(value: string, count?: ReadCount): boolean;
  /** The shortest match that starts with `prefix` and consists of some ASCII characters; see `shortestAccepted`. */
  shortest(prefix: string, characters: string): string | undefined;
  /** Begins a comparison of the matched paths with path prefixes. It takes memory, and is not kept. */
  comparePrefixes(): PrefixComparison;
}

/** A pattern, or the reason why it cannot be used. `effort` is the cost of determining that; it depends only on the text. */
export type CompiledPattern =
  | { readonly ok: true; readonly effort: number; readonly pattern: Pattern }
  | { readonly ok: false; readonly effort: number; readonly problem: string };

/** Limits of a single pattern (docs/adr/0005). All but the last two are checked before compilation. */
export const patternLimits = {
  /** UTF-16 code units. */
  characters: 4_096,
  /** States of the nondeterministic automaton: one per part, with repetitions expanded. */
  parts: 2_000,
  /** Ranges of characters in all character classes. */
  ranges: 8_000,
  /** Size of the table in bytes. */
  bytes: 128 * 1_024,
  /** Elementary steps for building the table, some 10 ns each. */
  effort: 200_000,
} as const;

/** The effort for the text and its classes, without building the table. */
const effortOf = { pattern: 2_000, character: 10, range: 16 } as const;

// Cache of a pure function: affects only the time.
const compiled = new Map<string, CompiledPattern>();
let compiledBytes = 0;

/** Maximum size of cached compiled patterns in bytes. */
export const keptPatternBytes = 8 * 1_024 * 1_024;

/**
 * Compiles a RegularExpression match value. The specification leaves the dialect to implementations. Here it is RE2 syntax,
 * case-sensitive, and must match the whole path, header or query value (`/a` does not match `/ab`), as in implementations
 * based on Envoy. `.` does not match line breaks. The same text gives the same pattern object while it is cached. The
 * problem names what RE2 does not support or what exceeds a limit, and the fix.
 */
export function compilePattern(text: string): CompiledPattern {
  const known = compiled.get(text);
  // Deleted and set again: the map is ordered from least to most recently used.
  if (known === undefined) return keep(text, compile(text));
  compiled.delete(text);
  compiled.set(text, known);
  return known;
}

/**
 * The syntax error of a text that is not an RE2 expression; otherwise `undefined`. A valid expression may still exceed a
 * limit. Does not compile anything.
 */
export function patternSyntaxProblem(text: string): string | undefined {
  const parsed = parse(text);
  return typeof parsed === 'string' ? parsed : undefined;
}

function keep(text: string, result: CompiledPattern): CompiledPattern {
  compiled.set(text, result);
  compiledBytes += bytesKept(text, result);
  for (const [oldest, other] of compiled) {
    if (compiledBytes <= keptPatternBytes) break;
    compiled.delete(oldest);
    compiledBytes -= bytesKept(oldest, other);
  }
  return result;
}

/** Size of an entry and its objects in bytes, without texts and tables. */
const bytesOfEntry = 400;

function bytesKept(text: string, result: CompiledPattern): number {
  return bytesOfEntry + 2 * text.length + (result.ok ? result.pattern.bytes : 2 * result.problem.length);
}

function compile(text: string): CompiledPattern {
  const parsed = parse(text);
  const ofText = effortOf.pattern + effortOf.character * Math.min(text.length, patternLimits.characters);
  if (typeof parsed === 'string') return { ok: false, effort: ofText, problem: parsed };
  const weight = parsed.sets.reduce((sum, set) => sum + weightOf(set), 0);
  const problem = weighingProblem(parsed, weight);
  if (problem !== undefined) return { ok: false, effort: ofText, problem };

  const allowance = { bytes: patternLimits.bytes, effort: patternLimits.effort };
  const table = tableWithin(parsed, allowance);
  const effort = ofText + effortOf.range * weight + patternLimits.effort - Math.max(allowance.effort, 0);
  if (typeof table === 'string') return { ok: false, effort, problem: table };
  return {
    ok: true,
    effort,
    pattern: {
      text,
      bytes: table.bytes,
      matches: (value, count) => accepts(table, value, count),
      shortest: (prefix, characters) => shortestAccepted(table, prefix, characters),
      comparePrefixes: () => new PrefixComparison(table),
    },
  };
}

function parse(text: string): ParsedPattern | string {
  if (text.length > patternLimits.characters)
    return `it has ${text.length} characters, and at most ${patternLimits.characters} are allowed. Use a shorter expression, or several matches`;
  try {
    return parsePattern(text);
  } catch (error) {
    if (error instanceof PatternSyntaxError) return explain(text, error);
    throw error;
  }
}

/** The limit that a pattern exceeds, as far as this is known before compilation. */
function weighingProblem({ root }: ParsedPattern, weight: number): string | undefined {
  if (root.size > patternLimits.parts)
    return `it has more than ${patternLimits.parts} parts after counted repetitions are expanded. Use smaller counts, or * and +`;
  if (weight > patternLimits.ranges)
    return `its classes have more than ${patternLimits.ranges} character ranges. Use fewer classes such as \\p{L}, or remove (?i)`;
  return undefined;
}

function tableWithin(
  parsed: ParsedPattern,
  allowance: { readonly bytes: number; effort: number },
): PatternTable | string {
  try {
    return tableOf(statesOf(parsed.root, allowance), parsed.sets.map(membersOf), allowance);
  } catch (error) {
    if (!(error instanceof TooCostly)) throw error;
    const limit =
      error.of === 'bytes'
        ? `more than ${patternLimits.bytes / 1_024} KiB`
        : `more than ${patternLimits.effort} steps to compile`;
    return `it takes ${limit}: its counted repetitions overlap with the part before them, for example .*. Use * or + instead of counts, or several matches`;
  }
}

const lacking: readonly { readonly sign: RegExp; readonly problem: string }[] = [
  {
    sign: /\(\?<?[=!]/,
    problem:
      'RE2 does not support lookahead or lookbehind such as (?=…) or (?!…). List the alternatives with |, or use several matches or rules',
  },
  { sign: /\\(?:[1-9]|k[<{'])/, problem: 'RE2 does not support backreferences such as \\1. Repeat the part itself' },
  {
    sign: /\(\?>|[*+?}]\+/,
    problem:
      'RE2 does not support atomic groups (?>…) or possessive quantifiers such as a++. Remove the extra sign: RE2 never backtracks',
  },
];

function explain(text: string, { message, part }: PatternSyntaxError): string {
  const problem = lacking.find(({ sign }) => sign.test(text))?.problem;
  if (problem !== undefined) return problem;
  const place = part === undefined ? '' : ` at ${quote(part, 32)}`;
  return `${message}${place}. Use RE2 syntax, with \\ before each literal special character`;
}
