import type { Path } from '../../resources/path.ts';
import { display, quote } from '../../text/display.ts';
import { headerKey } from '../../text/header.ts';
import { demand, type ReportViolation } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { Rule } from '../engine/rule.ts';
import type { ViewAt } from '../../schema/index.ts';

/**
 * The CRDs compare list entries by their names as written, case-sensitively. The specification defines that the second of equal
 * names is ignored, so status and traffic do not react. But the user probably expects an effect.
 */
export const headerNameRepeated: Rule = {
  id: 'header-name-repeated',
  summary: 'A list has duplicate header names, ignoring case. Only the first entry counts.',
  effect: deniedWhenStrict,
  source:
    'Gateway API v1.7.0, HTTPHeaderMatch.name and HTTPHeader.name ("Subsequent entries with an equivalent header name MUST be ignored")',
};

type Named = readonly { readonly name?: string }[];

export const matchedHeadersDistinct = demand(
  headerNameRepeated,
  (headers: Named, report) =>
    repetitions(
      headers,
      {
        list: 'headers',
        below: [],
        loss: 'so requests match without it',
        cure: 'combine both values in one entry of type RegularExpression',
      },
      report,
    ),
  'matches',
);

type Modifier = ViewAt<'HTTPRoute', 'spec.rules[].filters[].requestHeaderModifier'>;

export const modifiedHeadersDistinct = demand(
  headerNameRepeated,
  function judge(modifier: Modifier, report) {
    for (const list of ['set', 'add'] as const)
      repetitions(
        modifier[list] ?? [],
        { list, below: [list], loss: 'and its value is never used', cure: 'keep the value that you want' },
        report,
      );
    removals(modifier.remove ?? [], report);
  },
  'modifier',
);

function removals(names: readonly string[], report: ReportViolation): void {
  if (names.length < 2) return;
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const before = first.get(headerKey(name));
    if (before === undefined) first.set(headerKey(name), index);
    else
      report({
        below: ['remove', index],
        value: display(name),
        message: `Duplicate header ${quote(name)}: remove[${before}] names the same header (header names ignore case). Delete this entry, or correct the name.`,
      });
  }
}

export const sentHeadersDistinct = demand(
  headerNameRepeated,
  (headers: Named, report) =>
    repetitions(
      headers,
      { list: 'headers', below: [], loss: 'and its value may never be sent', cure: 'keep the value that you want' },
      report,
    ),
  'sent',
);

interface ListPlace {
  readonly list: string;
  readonly below: Path;
  readonly loss: string;
  readonly cure: string;
}

function repetitions(headers: Named, { list, below, loss, cure }: ListPlace, report: ReportViolation): void {
  if (headers.length < 2) return;
  const first = new Map<string, number>();
  for (const [index, { name }] of headers.entries()) {
    if (name === undefined) continue;
    const key = headerKey(name);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else {
      report({
        below: [...below, index, 'name'],
        value: display(name),
        message: `Duplicate header ${quote(name)}: ${list}[${before}] names the same header (header names ignore case). This entry is ignored, ${loss}. Remove it, or ${cure}.`,
      });
    }
  }
}
