import { list, object } from '../node.ts';
import { group, kind, name, namespace } from './common.ts';
import { gatewayTable } from './table.ts';

const someItems = { minItems: 1, maxItems: 16, listType: 'atomic' } as const;

const spec = object({
  from: list(object({ group, kind, namespace }, { required: ['group', 'kind', 'namespace'] }), someItems),
  to: list(object({ group, kind, name }, { required: ['group', 'kind'] }), someItems),
}, { required: ['from', 'to'] });

export const referenceGrant = gatewayTable({
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  namespaced: true,
  versions: [{ name: 'v1', served: true, storage: false }, { name: 'v1beta1', served: true, storage: true }],
  body: object({ spec }, { required: ['spec'] }),
});
