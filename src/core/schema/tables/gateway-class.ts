import { list, object, string } from '../node.ts';
import { conditionsDefaulting, controllerName, group, kind, name, namespace, waitingStatus } from './common.ts';
import { gatewayTable } from './table.ts';

const spec = object({
  controllerName,
  description: string({ maxLength: 64 }),
  parametersRef: object({ group, kind, name, namespace }, { required: ['group', 'kind', 'name'] }),
}, { required: ['controllerName'] });

const status = object({
  conditions: conditionsDefaulting('Accepted'),
  supportedFeatures: list(object({ name: string() }, { required: ['name'] }), { maxItems: 64, listType: 'map', keys: ['name'] }),
}, waitingStatus('Accepted'));

export const gatewayClass = gatewayTable({
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
  versions: [{ name: 'v1', served: true, storage: true }, { name: 'v1beta1', served: true, storage: false }],
  body: object({ spec, status }, { required: ['spec'] }),
});
