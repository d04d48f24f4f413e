import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

const label = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/;

/** Implementations derive Services and labels from these names. */
export const gatewayName = unenforcedRule({
  id: 'gateway-name',
  summary: 'The name of a Gateway or GatewayClass is no DNS label of at most 63 characters.',
  effect: warned,
  source: 'Gateway API v1.7.0, Gateway and GatewayClass ("SHOULD be ... RFC 1035 label")',
}, function judge({ metadata: { name } }: WholeObject, report) {
  if (name === '' || label.test(name)) return;
  const problem = name.length > 63 ? `has ${name.length} characters` : 'is no DNS label';
  report({ below: ['metadata', 'name'], value: display(name), message: `The name ${quote(name)} ${problem}, so some implementations cannot name a Service or label after it. Write at most 63 lower-case letters, digits and -, with a letter first.` });
});
