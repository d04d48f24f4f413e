import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';

type PathModifier = ViewAt<'HTTPRoute', 'spec.rules[].filters[].urlRewrite.path'>;

const outsidePath = /[?#\s]/;

export const pathReplacementSyntax = unenforcedRule(
  {
    id: 'path-replacement-syntax',
    summary: 'The replacement of a path is not a valid path.',
    effect: deniedWhenStrict,
    source: 'Gateway API v1.7.0, HTTPPathModifier.replaceFullPath and .replacePrefixMatch; RFC 3986 section 3.3',
  },
  function judge({ replaceFullPath, replacePrefixMatch }: PathModifier, report) {
    for (const [field, value] of Object.entries({ replaceFullPath, replacePrefixMatch })) {
      // An empty prefix replaces the matched prefix with nothing.
      if (value === undefined || (value === '' && field === 'replacePrefixMatch')) continue;
      const shown = { below: [field], value: display(value) };
      const [outside] = outsidePath.exec(value) ?? [];
      if (!value.startsWith('/'))
        report({
          ...shown,
          message: `Invalid ${field} ${quote(value)}: a path must start with "/". Use ${quote(`/${value}`)}.`,
        });
      else if (outside !== undefined)
        report({
          ...shown,
          message: `Invalid ${field} ${quote(value)}: a path must not contain ${quote(outside)}. ${outside === '?' || outside === '#' ? 'Remove query and fragment: they cannot be replaced' : 'Use %20 for a space'}.`,
        });
    }
  },
);
