import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied, warned } from '../engine/effects.ts';
import { isSubdomain } from '../objects/qualified-key.ts';
import type { WholeObject } from '../engine/written-object.ts';

// Names that Gateways and GatewayClasses have or refer to.

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

export const gatewayClassName = unenforcedRule({
  id: 'gateway-class-name',
  summary: 'A Gateway names a GatewayClass that cannot exist.',
  effect: denied,
  source: 'Gateway API v1.7.0, GatewaySpec.gatewayClassName; Kubernetes, "Object Names and IDs"',
}, function judge(name: string, report) {
  if (isSubdomain(name)) return;
  report({ below: [], value: display(name), message: `No GatewayClass can be called ${quote(name)}: names are made of lower-case letters, digits, - and dots. Write the name of a GatewayClass as kubectl get gatewayclass shows it.` });
});
