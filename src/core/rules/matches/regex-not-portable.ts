import { display, quote } from '../../text/display.ts';
import { patternSyntaxProblem } from '../../patterns/pattern.ts';
import { demand, type ReportViolation } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Rule } from '../engine/rule.ts';
import type { ViewAt } from '../../schema/index.ts';

/** The specification leaves the dialect open. GEP-4359 defines the subset that all implementations should support. */
export const regexNotPortable: Rule = {
  id: 'regex-not-portable',
  summary:
    'A regular expression uses syntax that not every implementation supports, or that implementations interpret differently.',
  effect: warned,
  source:
    'GEP-4359, Regular Expressions; Gateway API v1.7.0, PathMatchRegularExpression (dialect is implementation-specific)',
};

/** Syntax outside the common dialect, most surprising first, and its replacement. */
const outside: readonly (readonly [pattern: RegExp, what: string, cure: string])[] = [
  [/\(\?[=!<]/, 'uses lookahead or lookbehind', 'Use several matches or a simpler expression'],
  [/\(\?(?:[a-zA-Z]*-)?[a-zA-Z]+[):]/, 'sets flags', 'List both cases, for example [Aa]'],
  [/\(\?P?</, 'uses a named group', 'Use a plain group, ( )'],
  [/\(\?/, 'uses a special group', 'Use a plain group, ( )'],
  [/\\[1-9]/, 'uses a backreference', 'Repeat the content of the group'],
  [/\\[DSbBAzZpPQEntrfvxuaC0]/, 'uses an uncommon escape', 'Use a set such as [^0-9] instead'],
  [/[*+?}][*+?]/, 'uses a lazy or possessive quantifier', 'Use the plain quantifier: it matches the same texts'],
  [/\[:|\[=|\[\./, 'uses a named class', 'List the characters, for example [a-z]'],
  [/\[[^\]]*\[/, 'contains [ within a set', 'Write \\[ there'],
  [/\^[*+?{]/, 'repeats ^', 'Use it once'],
  [/\{,/, 'has a count without a lower bound', 'Add 0 before the comma'],
  [/\{(?!\d{1,3}(?:,\d{0,3})?\})/, 'contains { that does not start a count', 'Write \\{ for the sign itself'],
  [/\{(?:\d+,)?(?:25[6-9]|2[6-9]\d|[3-9]\d\d)[,}]/, 'counts beyond 255', 'Use a smaller count'],
];

type Match = ViewAt<'HTTPRoute', 'spec.rules[].matches[].path'>;

function judge(expression: string, below: readonly string[], report: ReportViolation): void {
  // Another rule reports invalid expressions.
  const bare = expression.replaceAll(/\\[\\[\](){}.*+?^$|/-]/g, '_');
  const found = outside.find(([pattern]) => pattern.test(bare));
  if (found === undefined || patternSyntaxProblem(expression) !== undefined) return;
  const [, what, cure] = found;
  report({
    below,
    value: display(expression),
    message: `Regular expression ${quote(expression)} ${what}, which other implementations may reject or interpret differently. ${cure}.`,
  });
}

/** For matches of headers, query parameters and paths. */
export const portableValue = demand(
  regexNotPortable,
  function ofMatch({ type, value = '' }: Match, report) {
    if (type === 'RegularExpression') judge(value, ['value'], report);
  },
  'value',
);

type MethodMatch = ViewAt<'GRPCRoute', 'spec.rules[].matches[].method'>;

export const portableMethod = demand(
  regexNotPortable,
  function ofMethod({ type, service = '', method = '' }: MethodMatch, report) {
    if (type !== 'RegularExpression') return;
    judge(service, ['service'], report);
    judge(method, ['method'], report);
  },
  'method',
);
