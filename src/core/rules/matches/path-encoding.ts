import { type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { canonicalSpelling } from '../../text/path.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { pathMatchOf } from '../../semantics/intended.ts';

type PathMatch = ViewAt<'HTTPRoute', 'spec.rules[].matches[].path'>;

const dotSegment = /\/\.\.?(?:\/|$)/;

/** Requests are compared after unnecessary percent-encodings are decoded. */
export const pathEncoding = unenforcedRule(
  {
    id: 'path-encoding',
    summary: 'A path match percent-encodes characters unnecessarily.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPPathMatch.value; RFC 3986 sections 6.2.2.2 and 6.2.2.3',
  },
  function judge(match: PathMatch, report) {
    const { type, value } = pathMatchOf(match);
    if ((type !== 'Exact' && type !== 'PathPrefix') || !value.includes('%')) return;
    const plain = value.replaceAll(/%(?:2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (triplet) =>
      decodeURIComponent(triplet),
    );
    if (plain === value) return;
    const cure = dotSegment.test(plain) ? 'Use the path that it resolves to' : `Use ${quote(plain)}`;
    report({
      below: ['value'],
      value: display(value),
      message: `Path ${quote(value)} percent-encodes characters unnecessarily, so it is compared as ${quote(canonicalSpelling(plain))}. ${cure}.`,
    });
  },
);
