import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

export const gatewayClassName = unenforcedRule({
  id: 'gateway-class-name',
  summary: 'A Gateway names a GatewayClass that cannot exist.',
  effect: denied,
  source: 'Gateway API v1.7.0, GatewaySpec.gatewayClassName; Kubernetes, "Object Names and IDs"',
}, function judge(name: string, report) {
  if (isSubdomain(name)) return;
  report({ below: [], value: display(name), message: `No GatewayClass can be called ${quote(name)}: names are made of lower-case letters, digits, - and dots. Write the name of a GatewayClass as kubectl get gatewayclass shows it.` });
});
