import { gatewayGroups } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';

interface Reference {
  readonly group?: string;
  readonly kind?: string;
}

const ownGroups: ReadonlySet<string> = new Set(['', ...gatewayGroups]);

export const extensionReference = unenforcedRule({
  id: 'extension-reference',
  summary: 'An ExtensionRef refers to a kind of Kubernetes or of the Gateway API itself.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, HTTPRouteFilter.extensionRef ("MUST NOT be used for core and extended filters")',
}, function judge({ group = '', kind = '' }: Reference, report) {
  if (!ownGroups.has(group)) return;
  const what = group === '' ? `the core kind ${display(kind)}` : `${display(kind)} of the Gateway API`;
  report({ below: ['group'], value: display(group), message: `ExtensionRef is for filters of implementations, but names ${what}, which no implementation takes for a filter. Write the group of your implementation's filter (${quote(group)} is not), or a filter of the Gateway API.` });
});
