import { display } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';

export const backendPortName = specificationRule({
  id: 'backend-port-name',
  summary: 'The port of an XBackend has a name, but the CRD rejects every name.',
  source: 'Gateway API v1.6.3, BackendPort.name',
});

/** The CEL rule should reject names that are not DNS labels, but it compares an optional value with null, which is always false. */
export const portHasNoName = demand(backendPortName, function judge(name: string, report) {
  if (name === '') return;
  report({
    below: [],
    value: display(name),
    message:
      'The CRD of this bundle rejects every port name, valid names included. Remove name. The field does not exist in v1.7.',
  });
});
