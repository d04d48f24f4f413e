import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';

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
