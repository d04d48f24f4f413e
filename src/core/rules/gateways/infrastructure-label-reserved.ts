import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

const reservedLabels = ['gateway.networking.k8s.io/gateway-name', 'gateway.networking.k8s.io/gateway-class-name'];

export const infrastructureLabelReserved = unenforcedRule(
  {
    id: 'infrastructure-label-reserved',
    summary: 'A Gateway sets a reserved label in its infrastructure.',
    effect: warned,
    source: 'Gateway API v1.7.0, well-known labels GatewayNameLabelKey and GatewayClassNameLabelKey; GEP-1762',
  },
  function judge(labels: Readonly<Record<string, string>>, report) {
    for (const key of reservedLabels) {
      if (Object.hasOwn(labels, key))
        report({
          below: [key],
          value: display(labels[key] ?? ''),
          message: `Label ${key} is reserved: implementations set it to find the resources of a Gateway. Remove it, or use a label in a domain of your own.`,
        });
    }
  },
);
