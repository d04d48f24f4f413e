import { display, quote } from '../../text/display.ts';
import { formatDuration, isStandardForm, parseDuration } from '../../text/duration.ts';
import { controlCharacter, isPrintableHeaderValue } from '../../text/header.ts';
import { canonicalSpelling } from '../../text/path.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict, warned } from '../engine/effects.ts';

// Texts that bundles take, but that do not say what they seem to say, or not to everybody.

/** The experimental channel refuses such values since v1.5. */
export const headerValueCharset = unenforcedRule({
  id: 'header-value-charset',
  summary: 'A header value has characters other than printable ASCII and single blanks between.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPHeader.value and HTTPHeaderMatch.value (experimental channel); RFC 9110 section 5.5',
}, function judge(value: string, report) {
  // Control characters are the concern of a rule that denies.
  if (isPrintableHeaderValue(value) || controlCharacter(value.replaceAll('\t', ' ')) !== undefined) return;
  const tidy = value.trim().replaceAll(/[ \t]+/g, ' ');
  const [odd] = /[^!-~ \t]/u.exec(value) ?? [];
  const problem = odd === undefined ? 'has blanks at an end or in a row' : `holds ${quote(odd)}, which is no printable ASCII character`;
  const cure = odd === undefined && tidy !== '' ? `Write ${quote(tidy)}` : 'Encode it, e.g. percent-encoded or in base64';
  report({ below: [], value: display(value), message: `The header value ${quote(value)} ${problem}; the experimental channel refuses such values. ${cure}.` });
});

export const durationNotStandard = unenforcedRule({
  id: 'duration-not-standard',
  summary: 'A duration is not written in the standard form.',
  effect: warned,
  source: 'GEP-2257, Gateway API Duration Format ("Formatting a Duration": users SHOULD)',
}, function judge(value: string, report) {
  const parsed = isStandardForm(value) ? undefined : parseDuration(value);
  if (parsed?.ok !== true) return;
  const formatted = formatDuration(parsed.milliseconds);
  const advice = formatted.ok ? `Write ${formatted.text}` : 'Write less than 100000h';
  report({ below: [], value: display(value), message: `${quote(value)} is not how programs write this duration, so tools will show or store it otherwise. ${advice}.` });
});

interface PathMatch {
  readonly type?: string;
  readonly value?: string;
}

const dotSegment = /\/\.\.?(?:\/|$)/;

/** Requests are compared once encodings are undone that need not be there. */
export const pathEncoding = unenforcedRule({
  id: 'path-encoding',
  summary: 'A path match encodes characters that need no encoding.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPPathMatch.value; RFC 3986 sections 6.2.2.2 and 6.2.2.3',
}, function judge({ type = 'PathPrefix', value = '/' }: PathMatch, report) {
  if ((type !== 'Exact' && type !== 'PathPrefix') || !value.includes('%')) return;
  const plain = value.replaceAll(/%(?:2[de]|3[0-9]|[46][1-9a-f]|[57][0-9a]|5f|7e)/gi, (triplet) => decodeURIComponent(triplet));
  if (plain === value) return;
  const cure = dotSegment.test(plain) ? 'Write the path that it leads to' : `Write ${quote(plain)}`;
  report({ below: ['value'], value: display(value), message: `The path ${quote(value)} encodes characters that need no encoding, so requests reach it as ${quote(canonicalSpelling(plain))}. ${cure}.` });
});

interface PathModifier {
  readonly replaceFullPath?: string;
  readonly replacePrefixMatch?: string;
}

const outsidePath = /[?#\s]/;

export const pathReplacementSyntax = unenforcedRule({
  id: 'path-replacement-syntax',
  summary: 'What a path is replaced by is no path.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, HTTPPathModifier.replaceFullPath and .replacePrefixMatch; RFC 3986 section 3.3',
}, function judge({ replaceFullPath, replacePrefixMatch }: PathModifier, report) {
  for (const [field, value] of Object.entries({ replaceFullPath, replacePrefixMatch })) {
    // An empty prefix stands for none.
    if (value === undefined || (value === '' && field === 'replacePrefixMatch')) continue;
    const shown = { below: [field], value: display(value) };
    const [outside] = outsidePath.exec(value) ?? [];
    if (!value.startsWith('/')) report({ ...shown, message: `${field} is ${quote(value)}, but a path begins with "/". Write ${quote(`/${value}`)}.` });
    else if (outside !== undefined) report({ ...shown, message: `${field} is ${quote(value)}, but a path holds no ${quote(outside)}. ${outside === '?' || outside === '#' ? 'Leave query and fragment out: they cannot be replaced' : 'Write %20 for a blank'}.` });
  }
});
