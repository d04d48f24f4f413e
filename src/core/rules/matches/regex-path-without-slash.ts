import { patternLimits } from '../../patterns/pattern.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

/** The expression may work in implementations that match a part of the path, but not where the whole path must match. */
export const regexPathWithoutSlash = unenforcedRule(
  {
    id: 'regex-path-without-slash',
    summary: 'A regular expression for paths matches no text that starts with "/".',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPPathMatch.type (RegularExpression); RFC 9112 section 3.2.1 (absolute-path)',
  },
  function judge({ type, value = '' }: ViewAt<'HTTPRoute', 'spec.rules[].matches[].path'>, report) {
    // Another rule reports longer expressions.
    if (type !== 'RegularExpression' || value.length > patternLimits.characters) return;
    const alternatives = value.split('|');
    if (!alternatives.every((one) => plainBeginning.test(one)) || /[()]/.test(value)) return;
    const cure = alternatives.map((one) => `/${one.replace(/^\^/, '')}`).join('|');
    report({
      below: ['value'],
      value: display(value),
      message: `Regular expression ${quote(value)} matches no path: every path starts with "/". Use ${quote(cure)}.`,
    });
  },
);

/** A literal letter, digit or symbol, or a set of letters and digits, that is not optional. More complex expressions are not checked. */
const plainBeginning = /^\^?(?:[\w~%@-]|\\[.+~-]|\[(?:\w-\w|\w)+\])(?![*?{])/;
