import { quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';
import type { ViewAt } from '../../schema/index.ts';

export const backendPortForbidden = specificationRule({
  id: 'backend-port-forbidden',
  summary: 'A reference to an XBackend sets a port, but the XBackend defines its port itself.',
  source: 'Gateway API v1.7.0, BackendObjectReference.port; GEP-4894',
});

type BackendReference = ViewAt<'HTTPRoute', 'spec.rules[].backendRefs[]'>;

export const backendWithoutPort = demand(
  backendPortForbidden,
  function judge({ group, kind, name, port }: BackendReference, report) {
    if (group !== 'gateway.networking.x-k8s.io' || kind !== 'XBackend' || port === undefined) return;
    report({
      below: ['port'],
      value: String(port),
      message: `Port is not allowed in a reference to XBackend ${quote(name)}: the XBackend defines its port itself. Remove port.`,
    });
  },
);
