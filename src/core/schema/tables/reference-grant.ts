import { between, since, until, versions } from '../availability.ts';
import { list, object } from '../node.ts';
import { atomic, group, kind, name, namespace } from './common.ts';
import { deprecated, gatewayTable, served, stored, unserved } from './table.ts';

const someItems = { minItems: 1, maxItems: 16, listType: atomic } as const;

const spec = object(
  {
    from: list(object({ group, kind, namespace }, { required: ['group', 'kind', 'namespace'] }), someItems),
    to: list(object({ group, kind, name }, { required: ['group', 'kind'] }), someItems),
  },
  { required: ['from', 'to'] },
);

export const referenceGrant = gatewayTable({
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  namespaced: true,
  versions: [
    since('1.5', served('v1')),
    versions(until('1.2', deprecated('v1alpha2')), between({ standard: '1.1' }, '1.2', unserved('v1alpha2'))),
    stored('v1beta1'),
  ],
  body: object({ spec }, { required: [since('1.6', 'spec')] }),
});
