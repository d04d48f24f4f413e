import { expect, test } from '@jest/globals';
import { policySettingsWrites } from '../../../../src/core/admission/policy-settings.ts';
import { readSettings } from '../../../../src/core/admission/read-settings.ts';
import { findings } from '../../../../src/core/rules/engine/run.ts';
import { evaluate, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith } from '../../../support/rules.ts';

const front = gatewayWith({ name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } });
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'cart', namespace: 'market' },
  spec: { parentRefs: [{ name: 'front', namespace: 'shop' }], hostnames: ['shop.example.com'], rules: [{}] },
};

function policiesFor(...owners: readonly string[]) {
  const read = readSettings({
    hostnamePolicies: owners.map((owner) => ({
      name: owner,
      hostnames: ['shop.example.com'],
      namespaces: { names: [owner] },
    })),
  });
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.settings.hostnamePolicies;
}

test('policies of the settings are evaluated without the CRD, replaced and removed', () => {
  const { kernel } = evaluate([route, front, ourClass]);
  const found = () =>
    kernel.read
      .query(findings, 'HTTPRoute', 'market', 'cart')
      .filter(({ rule }) => rule === 'hostname-not-permitted')
      .map(({ message }) => /HostnamePolicy .*? only in namespace "[^"]*"/.exec(message)?.[0]);
  expect(found()).toEqual([]);
  kernel.apply(policySettingsWrites([], policiesFor('shop')));
  expect(found()).toEqual(['HostnamePolicy "shop (settings)" permits it only in namespace "shop"']);
  kernel.apply(policySettingsWrites(policiesFor('shop'), policiesFor('depot')));
  expect(found()).toEqual(['HostnamePolicy "depot (settings)" permits it only in namespace "depot"']);
  kernel.apply(policySettingsWrites(policiesFor('depot'), policiesFor('depot', 'market')));
  expect(found()).toEqual([]);
  kernel.apply(policySettingsWrites(policiesFor('depot', 'market'), []));
  expect(found()).toEqual([]);
});

test('a policy of the settings and one of the cluster with the same name both apply', () => {
  const ofCluster = {
    apiVersion: 'sallyport.dev/v1alpha1',
    kind: 'HostnamePolicy',
    metadata: { name: 'shop' },
    spec: { hostnames: ['shop.example.com'], namespaces: { names: ['market'] } },
  };
  const { kernel } = evaluate([route, front, ourClass, ofCluster]);
  const count = () => kernel.read.query(findings, 'HTTPRoute', 'market', 'cart').length;
  const before = count();
  kernel.apply(policySettingsWrites([], policiesFor('shop')));
  expect(count()).toBe(before);
});
