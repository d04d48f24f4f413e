import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

const reservedLabels = ['gateway.networking.k8s.io/gateway-name', 'gateway.networking.k8s.io/gateway-class-name'];

export const infrastructureLabelReserved = unenforcedRule({
  id: 'infrastructure-label-reserved',
  summary: 'A Gateway sets a label by which implementations find what belongs to it.',
  effect: warned,
  source: 'Gateway API v1.7.0, well-known labels GatewayNameLabelKey and GatewayClassNameLabelKey; GEP-1762',
}, function judge(labels: Readonly<Record<string, string>>, report) {
  for (const key of reservedLabels) {
    if (Object.hasOwn(labels, key)) report({ below: [key], value: display(labels[key] ?? ''), message: `Implementations set the label ${key} themselves, and find by it what belongs to a Gateway. Remove it, or write a label with a domain of your own.` });
  }
});
