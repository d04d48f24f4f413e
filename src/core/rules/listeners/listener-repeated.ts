import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const listenerRepeated = specificationRule({
  id: 'listener-repeated',
  summary: 'Two listeners have the same port, protocol and hostname.',
  source:
    'Gateway API v1.7.0, GatewaySpec.listeners and ListenerSetSpec.listeners ("Combination of port, protocol and hostname must be unique")',
});

type Listener = ViewAt<'Gateway', 'spec.listeners[]'>;

/** Listeners of Gateways always have a port. Listeners without a port cannot be compared. */
export const listenersDistinct = demand(listenerRepeated, function judge(listeners: readonly Listener[], report) {
  for (const [index, { port, protocol, hostname }] of listeners.entries()) {
    const before = listeners.findIndex(
      (other) => other.port === port && other.protocol === protocol && other.hostname === hostname,
    );
    if (port === undefined || before === index) continue;
    const what = `port ${port}, protocol ${protocol}${hostname === undefined ? ' and no hostname' : ` and hostname ${hostname}`}`;
    report({
      below: [index],
      message: `Duplicate listener: listeners[${before}] has the same ${what}. Remove one of them, or use another port or hostname.`,
    });
  }
});
