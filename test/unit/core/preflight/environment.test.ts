import { describe, expect, test } from '@jest/globals';
import {
  isUnobserved,
  judgeKubernetes,
  judgeObservation,
  judgeOwners,
  judgePolicies,
} from '../../../../src/core/preflight/environment.ts';
import { definition, facts, short, to } from './subjects.ts';

const policy = 'safe-upgrades.gateway.networking.k8s.io';
const subject = `ValidatingAdmissionPolicy ${policy}`;
const standard = definition('Gateway', ['v1'], { minor: '1.5', channel: 'standard' });
const experimental = definition('Gateway', ['v1'], { minor: '1.5', channel: 'experimental' });

describe('judgeKubernetes', () => {
  test.each([
    ['v1.31.0', to('1.7'), []],
    ['v1.30.9', to('1.7'), ['blocker kubernetes-version Kubernetes v1.30.9']],
    ['v1.30.9', to('1.4'), []],
    ['v1.31.4-gke.100', to('1.7', 'experimental'), ['blocker kubernetes-version Kubernetes v1.31.4-gke.100']],
    ['v1.32.0+k3s1', to('1.7', 'experimental'), []],
    ['v1.31.0', to('1.5', 'experimental'), []],
    ['v1.24.0', to('1.0'), ['blocker kubernetes-version Kubernetes v1.24.0']],
    [undefined, to('1.7'), []],
    ['unknown', to('1.7'), []],
  ])('%s and %j', (kubernetes, target, expected) => {
    expect(short(judgeKubernetes(facts({ kubernetes }), target))).toEqual(expected);
  });
});

describe('judgePolicies', () => {
  const denial = [`blocker safe-upgrades ${subject}`];
  const remark = [`note safe-upgrades ${subject}`];
  test.each([
    ['no policy', new Map(), [standard], to('1.4'), []],
    ['an upgrade in the standard channel', new Map([[policy, 'v1.5.0-dev']]), [standard], to('1.7'), remark],
    [
      'an upgrade in the experimental channel',
      new Map([[policy, 'v1.5.0-dev']]),
      [experimental],
      to('1.7', 'experimental'),
      remark,
    ],
    [
      'experimental to standard, which the policy permits',
      new Map([[policy, 'v1.7.0']]),
      [experimental],
      to('1.7'),
      remark,
    ],
    ['standard to experimental', new Map([[policy, 'v1.7.0']]), [standard], to('1.7', 'experimental'), denial],
    ['an older bundle', new Map([[policy, 'v1.7.0']]), [standard], to('1.6'), denial],
    ['a policy without version', new Map([[policy, '']]), [standard], to('1.4'), remark],
  ])('%s', (...[, policies, definitions, target, expected]) => {
    expect(short(judgePolicies(facts({ policies, definitions }), target))).toEqual(expected);
  });

  test('CRDs that are not observed: nobody knows whether the policy allows experimental ones', () => {
    const unobserved = facts({ policies: new Map([[policy, 'v1.7.0']]), definitionsForbidden: 'forbidden' });
    expect(judgePolicies(unobserved, to('1.7', 'experimental'))).toEqual([]);
    expect(short(judgePolicies(unobserved, to('1.7')))).toEqual(remark);
    expect(short(judgePolicies(unobserved, to('1.6')))).toEqual(denial);
    expect(short(judgeObservation(unobserved))).toEqual(['warning unobserved-crds CustomResourceDefinitions']);
    expect(judgeObservation(facts({}))).toEqual([]);
  });

  test('the message about CRDs names the user, and no resource twice', () => {
    const what = 'User "system:serviceaccount:team:dev" cannot list resource "customresourcedefinitions" in API group';
    const definitionsForbidden = `customresourcedefinitions.apiextensions.k8s.io is forbidden: ${what} "apiextensions.k8s.io" at the cluster scope`;
    const [finding] = judgeObservation(facts({ definitionsForbidden }));
    expect(finding?.message).toMatch(
      new RegExp(`^The CRDs are not observed: ${what} "apiextensions.k8s.io" at the cluster scope\\. Their`),
    );
  });

  test('objects that are not observed: one warning for each way in which they are not', () => {
    const findings = judgeObservation(
      facts({
        unobserved: [
          { kind: 'HTTPRoute', namespace: 'team' },
          { kind: 'XMesh', namespace: undefined },
          { kind: 'Gateway', namespace: 'team' },
          // No CRD of the target changes it, but the traffic of routes depends on it.
          { kind: 'Service', namespace: 'team' },
        ],
      }),
    );
    expect(short(findings)).toEqual([
      'warning unobserved-objects HTTPRoute, Gateway, Service',
      'warning unobserved-objects XMesh',
    ]);
    expect(findings[0]).toMatchObject({
      message: expect.stringMatching(/^Objects of these kinds are observed only in namespace "team"\. /),
      commands: [
        'kubectl auth can-i list httproutes.gateway.networking.k8s.io --all-namespaces',
        'kubectl auth can-i list gateways.gateway.networking.k8s.io --all-namespaces',
        'kubectl auth can-i list services --all-namespaces',
      ],
    });
  });

  test('policies and the version of Kubernetes that may not be read', () => {
    const findings = judgeObservation(facts({ policiesForbidden: 'no policies', versionForbidden: 'no version' }));
    expect(short(findings)).toEqual([
      'warning unobserved-cluster ValidatingAdmissionPolicies',
      'warning unobserved-cluster Kubernetes',
    ]);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The policies are not observed: no policies\. /),
      expect.stringMatching(/^The version of Kubernetes is not observed: no version\. /),
    ]);
    expect(findings.every(isUnobserved)).toBe(true);
  });

  test('policies of providers', () => {
    const policies = new Map([
      ['openshift-ingress-operator-gatewayapi-crd-admission', ''],
      ['enforce-gateway-standard-channel', ''],
    ]);
    expect(short(judgePolicies(facts({ policies }), to('1.7')))).toEqual([
      'blocker managed-crds ValidatingAdmissionPolicy openshift-ingress-operator-gatewayapi-crd-admission',
    ]);
    expect(judgePolicies(facts({ policies }), to('1.7', 'experimental'))).toHaveLength(2);
  });
});

describe('judgeOwners', () => {
  test.each([
    ['kubectl', {}, []],
    ['a label', { labels: { 'kustomize.toolkit.fluxcd.io/name': 'crds' } }, ['warning managed-crds Flux']],
    ['an annotation', { annotations: { 'meta.helm.sh/release-name': 'crds' } }, ['warning managed-crds Helm']],
    ['a label with another value', { labels: { 'addonmanager.kubernetes.io/mode': 'EnsureExists' } }, []],
    [
      'a provider',
      { labels: { 'addonmanager.kubernetes.io/mode': 'Reconcile' } },
      ['warning managed-crds The add-on manager of the provider'],
    ],
    [
      'an unknown manager',
      { managers: ['kubectl-client-side-apply', 'kube-apiserver', 'cluster-operator'] },
      ['warning managed-crds cluster-operator'],
    ],
  ])('%s', (_name, marks, expected) => {
    expect(short(judgeOwners(facts({ definitions: [{ ...standard, ...marks }] })))).toEqual(expected);
  });
});
