import { expect, test } from '@jest/globals';
import { diagnose } from '../../../../src/cli/doctor/report.ts';
import { optionalKinds, type UnservedKind, type Verdict } from '../../../../src/cli/doctor/facts.ts';
import { healthy, installedKind } from '../../../support/doctor.ts';

function otherKinds(unserved: readonly UnservedKind[]): readonly Verdict[] {
  const { objects } = healthy.controller;
  if (objects.type === 'unknown') throw new Error('the objects are known');
  const controller = { ...healthy.controller, objects: { ...objects, value: { ...objects.value, unserved } } };
  return diagnose({ ...healthy, controller }).filter(({ check }) => check === 'other-kinds');
}

const unused = (kind: UnservedKind['kind']): UnservedKind => ({ kind, users: [] });

test.each<[readonly UnservedKind[], string]>([
  [[], 'served: HostnamePolicy, ServiceImport, ClusterTrustBundle'],
  [
    [unused('ServiceImport')],
    'served: HostnamePolicy, ClusterTrustBundle; not served, and no object refers to them: ServiceImport',
  ],
  [
    optionalKinds.map(unused),
    'not served, and no object refers to them: HostnamePolicy, ServiceImport, ClusterTrustBundle',
  ],
])('kinds that nobody misses: %j', (unserved, message) => {
  expect(otherKinds(unserved)).toEqual([{ check: 'other-kinds', status: 'ok', message, commands: [] }]);
});

test('kinds that objects refer to', () => {
  const kind = 'ClusterTrustBundle';
  const command = 'kubectl api-resources --api-group=certificates.k8s.io';
  const [one] = otherKinds([{ kind, users: ['Gateway shop/web'] }, unused('HostnamePolicy')]);
  expect(one).toEqual({
    check: 'other-kinds',
    status: 'warn',
    message: 'the API server does not serve the kind ClusterTrustBundle, but Gateway shop/web refers to it',
    commands: [command],
  });
  const [two] = otherKinds([{ kind, users: ['Gateway shop/web', 'Gateway shop/api'] }]);
  expect(two?.message).toContain('Gateway shop/web, Gateway shop/api refer to it');
});

test('nothing is known of kinds whose objects cannot be read', () => {
  const controller = { ...healthy.controller, objects: { type: 'unknown', problem: 'forbidden' } } as const;
  expect(diagnose({ ...healthy, controller }).some(({ check }) => check === 'other-kinds')).toBe(false);
});

test('a kind whose objects may not be listed is not said to be served', () => {
  const { objects } = healthy.controller;
  if (objects.type === 'unknown') throw new Error('the objects are known');
  const unobserved = optionalKinds.map((kind) => ({ kind, message: 'forbidden', namespace: undefined }));
  const messageWith = (some: typeof unobserved): string | undefined =>
    diagnose({
      ...healthy,
      controller: { ...healthy.controller, objects: { type: 'known', value: { ...objects.value, unobserved: some } } },
    }).find(({ check }) => check === 'other-kinds')?.message;
  expect(messageWith(unobserved.slice(0, 1))).toBe('served: ServiceImport, ClusterTrustBundle');
  expect(messageWith(unobserved)).toBeUndefined();
});

test('a CRD of HostnamePolicy that is not served', () => {
  const name = 'hostnamepolicies.sallyport.dev';
  const definition = installedKind('hostnamepolicies', { name, group: 'sallyport.dev', annotations: {} });
  const found = (established: boolean): readonly Verdict[] => {
    const kinds = healthy.kinds.type === 'known' ? healthy.kinds.value : [];
    const value = [...kinds, { ...definition, established }];
    return diagnose({ ...healthy, kinds: { type: 'known', value } }).filter(({ status }) => status === 'fail');
  };
  expect(found(true)).toEqual([]);
  expect(found(false)).toEqual([
    {
      check: 'crds-established',
      status: 'fail',
      message: `${name} is not served`,
      commands: [`kubectl describe crd ${name}`],
    },
  ]);
});
