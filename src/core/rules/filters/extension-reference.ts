import { gatewayGroups, type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';

type Reference = ViewAt<'HTTPRoute', 'spec.rules[].filters[].extensionRef'>;

const ownGroups: ReadonlySet<string> = new Set(['', ...gatewayGroups]);

export const extensionReference = unenforcedRule(
  {
    id: 'extension-reference',
    summary: 'An ExtensionRef names a kind of Kubernetes or of the Gateway API.',
    effect: deniedWhenStrict,
    source: 'Gateway API v1.7.0, HTTPRouteFilter.extensionRef ("MUST NOT be used for core and extended filters")',
  },
  function judge({ group = '', kind = '' }: Reference, report) {
    if (!ownGroups.has(group)) return;
    const what = group === '' ? `core kind ${display(kind)}` : `${display(kind)} of the Gateway API`;
    report({
      below: ['group'],
      value: display(group),
      message: `Invalid ExtensionRef: ${what} is not a filter of an implementation. Use the group of a filter that your implementation defines instead of ${quote(group)}, or use a filter of the Gateway API.`,
    });
  },
);
