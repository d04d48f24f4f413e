import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { ViewAt } from '../../schema/index.ts';
import { someOf } from '../../text/display.ts';

type Gateway = ViewAt<'Gateway', 'spec'>;

export const clientValidationWithoutListener = unenforcedRule(
  {
    id: 'client-validation-without-listener',
    summary: 'Client validation is configured for a port without an HTTPS listener.',
    effect: warned,
    source: 'Gateway API v1.7.0, FrontendTLSConfig.perPort; GEP-91',
  },
  function judge({ listeners = [], tls }: Gateway, report) {
    for (const [index, { port }] of (tls?.frontend?.perPort ?? []).entries()) {
      if (port === undefined || listeners.some((listener) => listener.port === port && listener.protocol === 'HTTPS'))
        continue;
      const ports = [
        ...new Set(
          listeners.flatMap(({ protocol, port: one }) => (protocol === 'HTTPS' && one !== undefined ? [one] : [])),
        ),
      ];
      const cure =
        ports.length === 0
          ? 'Add an HTTPS listener with this port'
          : `Use the port of an HTTPS listener (${someOf(ports)})`;
      report({
        below: ['tls', 'frontend', 'perPort', index, 'port'],
        value: String(port),
        message: `HTTPS listener with port ${port} not found in this Gateway, so the validation has no effect. ${cure}, unless a ListenerSet adds one.`,
      });
    }
  },
);
