import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { isSubdomain } from '../objects/qualified-key.ts';

export const gatewayClassName = unenforcedRule(
  {
    id: 'gateway-class-name',
    summary: 'The gatewayClassName of a Gateway is not a valid name.',
    effect: denied,
    source: 'Gateway API v1.7.0, GatewaySpec.gatewayClassName; Kubernetes, "Object Names and IDs"',
  },
  function judge(name: string, report) {
    if (isSubdomain(name)) return;
    report({
      below: [],
      value: display(name),
      message: `Invalid gatewayClassName ${quote(name)}: names consist of lower-case letters, digits, "-" and ".". Use a name that "kubectl get gatewayclass" shows.`,
    });
  },
);
