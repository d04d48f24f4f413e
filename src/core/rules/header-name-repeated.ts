import { servedRouteKinds } from '../graph/protocols.ts';
import { visitSemantic } from '../schema/index.ts';
import type { Path } from '../resources/path.ts';
import { display, quote } from '../text/display.ts';
import { headerKey } from '../text/header.ts';
import { deniedWhenStrict } from './effects.ts';
import { lastItem } from './parts.ts';
import { rule, type Report } from './rule.ts';

/**
 * The CRDs tell list entries apart by their names as written. The specification says what happens to the second of
 * equal names (it is ignored), so neither status nor traffic reacts; but whoever wrote it expects something else.
 */
export const headerNameRepeated = rule({
  id: 'header-name-repeated',
  kinds: servedRouteKinds,
  summary: 'A list names one header twice, ignoring case; only the first entry counts.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, HTTPHeaderMatch.name and HTTPHeader.name ("Subsequent entries with an equivalent header name MUST be ignored")',
  check(subject, _read, report) {
    visitSemantic(subject.kind, subject, 'headerMatches', (path, headers) => {
      checkNames(headers, { path, effect: 'so requests match that do not have it', cure: 'combine both values in one entry of type RegularExpression' }, report);
    });
    visitSemantic(subject.kind, subject, 'headerModifier', (path, modifier) => {
      for (const list of ['set', 'add'] as const) {
        checkNames(modifier[list] ?? [], { path: [...path, list], effect: 'so its value is never used', cure: 'keep the value you want' }, report);
      }
    });
  },
});

interface ListPlace {
  readonly path: Path;
  readonly effect: string;
  readonly cure: string;
}

function checkNames(headers: readonly { readonly name?: string }[], { path, effect, cure }: ListPlace, report: Report): void {
  const first = new Map<string, number>();
  for (const [index, { name }] of headers.entries()) {
    if (name === undefined) continue;
    const key = headerKey(name);
    const before = first.get(key);
    if (before === undefined) first.set(key, index);
    else {
      report({
        path: [...path, index, 'name'],
        value: display(name),
        message: `The header ${quote(name)} is named by ${lastItem([...path, before])} already (header names ignore case); this entry is ignored, ${effect}. Remove it, or ${cure}.`,
      });
    }
  }
}
