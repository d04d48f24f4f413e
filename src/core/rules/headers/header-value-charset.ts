import { display, quote } from '../../text/display.ts';
import { controlCharacter, isPrintableHeaderValue } from '../../text/header.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

/** The experimental channel rejects such values since v1.5. */
export const headerValueCharset = unenforcedRule(
  {
    id: 'header-value-charset',
    summary: 'A header value has characters other than printable ASCII and single spaces.',
    effect: warned,
    source:
      'Gateway API v1.7.0, HTTPHeader.value and HTTPHeaderMatch.value (experimental channel); RFC 9110 section 5.5',
  },
  function judge(value: string, report) {
    // Another rule denies control characters.
    if (isPrintableHeaderValue(value) || controlCharacter(value.replaceAll('\t', ' ')) !== undefined) return;
    const tidy = value.trim().replaceAll(/[ \t]+/g, ' ');
    const [odd] = /[^!-~ \t]/u.exec(value) ?? [];
    const problem =
      odd === undefined
        ? 'it has leading, trailing or repeated spaces'
        : `it contains ${quote(odd)}, which is not printable ASCII`;
    const cure = odd === undefined && tidy !== '' ? `Use ${quote(tidy)}` : 'Encode it, for example in base64';
    report({
      below: [],
      value: display(value),
      message: `Header value ${quote(value)} is not portable: ${problem}. The experimental channel rejects it. ${cure}.`,
    });
  },
);
