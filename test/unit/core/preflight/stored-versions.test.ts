import { describe, expect, test } from '@jest/globals';
import { judgeStoredVersions } from '../../../../src/core/preflight/stored-versions.ts';
import type { Bundle, SchemaKind } from '../../../../src/core/schema/index.ts';
import { definition, facts, short, to } from './subjects.ts';

const group = 'gateway.networking.k8s.io';
const experimental = (minor: Bundle['minor']): Bundle => ({ minor, channel: 'experimental' });
const none = new Map();
const one = (kind: SchemaKind) => new Map([[kind, { count: 1, rejected: [] }]]);

describe('judgeStoredVersions', () => {
  test.each<[string, SchemaKind, readonly string[], Bundle, ReturnType<typeof to>, readonly string[]]>([
    ['a version that the target lists', 'Gateway', ['v1beta1'], experimental('1.0'), to('1.7'), []],
    [
      'v1alpha2 of Gateway beside v1beta1, as before v1.0',
      'Gateway',
      ['v1alpha2', 'v1beta1'],
      experimental('1.0'),
      to('1.7'),
      [`blocker stored-versions gateways.${group}`],
    ],
    [
      'v1alpha2 of BackendTLSPolicy',
      'BackendTLSPolicy',
      ['v1alpha2'],
      experimental('1.0'),
      to('1.1', 'experimental'),
      [`blocker stored-versions backendtlspolicies.${group}`],
    ],
    [
      'v1alpha2 of GRPCRoute to v1.1',
      'GRPCRoute',
      ['v1alpha2'],
      experimental('1.0'),
      to('1.1'),
      [`note stored-versions grpcroutes.${group}`],
    ],
    [
      'v1alpha2 of GRPCRoute to v1.2',
      'GRPCRoute',
      ['v1alpha2', 'v1'],
      experimental('1.1'),
      to('1.2'),
      [`blocker stored-versions grpcroutes.${group}`],
    ],
    [
      'v1alpha2 of ReferenceGrant',
      'ReferenceGrant',
      ['v1alpha2', 'v1beta1'],
      experimental('1.1'),
      to('1.2'),
      [`blocker stored-versions referencegrants.${group}`],
    ],
    [
      'v1 when going back',
      'TCPRoute',
      ['v1'],
      experimental('1.7'),
      to('1.5', 'experimental'),
      [`blocker stored-versions tcproutes.${group}`],
    ],
    [
      'a version that is listed and not served',
      'TCPRoute',
      ['v1alpha2'],
      experimental('1.5'),
      to('1.7'),
      [`note stored-versions tcproutes.${group}`],
    ],
    [
      'the same in the experimental channel',
      'TCPRoute',
      ['v1alpha2'],
      experimental('1.5'),
      to('1.7', 'experimental'),
      [],
    ],
    ['a kind that the target does not have', 'XListenerSet', ['v1alpha1'], experimental('1.4'), to('1.7'), []],
  ])('%s', (...[, kind, stored, installed, target, expected]) => {
    expect(
      short(judgeStoredVersions(facts({ definitions: [definition(kind, stored, installed)] }), target, none)),
    ).toEqual(expected);
  });

  const referenceGrant = definition('ReferenceGrant', ['v1alpha2', 'v1beta1'], experimental('1.1'));
  const patch = `kubectl patch crd referencegrants.${group} --subresource=status --type=merge -p '{"status":{"storedVersions":["v1beta1"]}}'`;

  test('objects are read and replaced where the cluster has no storage migration', () => {
    const [finding] = judgeStoredVersions(facts({ definitions: [referenceGrant] }), to('1.2'), one('ReferenceGrant'));
    expect(finding?.commands).toEqual([
      `kubectl get referencegrants.${group} --all-namespaces -o json | kubectl replace -f -`,
      patch,
    ]);
  });

  test('and migrated by the API server where it has', () => {
    const [finding] = judgeStoredVersions(
      facts({ definitions: [referenceGrant], storageMigration: 'v1' }),
      to('1.2'),
      one('ReferenceGrant'),
    );
    expect(finding?.commands).toEqual([
      `kubectl delete storageversionmigration referencegrants.${group} --ignore-not-found`,
      `echo '{"apiVersion":"storagemigration.k8s.io/v1","kind":"StorageVersionMigration","metadata":{"name":"referencegrants.${group}"},"spec":{"resource":{"group":"${group}","resource":"referencegrants"}}}' | kubectl create -f -`,
      `kubectl wait --for=condition=Succeeded storageversionmigration/referencegrants.${group} --timeout=5m`,
      patch,
    ]);
  });

  test('without objects only the list of versions is shortened', () => {
    const [finding] = judgeStoredVersions(
      facts({ definitions: [referenceGrant], storageMigration: 'v1' }),
      to('1.2'),
      none,
    );
    expect(finding?.message).toContain('No objects of the kind were found: make sure that there are none');
    expect(finding?.commands).toEqual([`kubectl get referencegrants.${group} --all-namespaces`, patch]);
  });

  test('a release that has both versions comes first, and the policy that denies it goes', () => {
    const some = { definitions: [definition('GRPCRoute', ['v1alpha2'], experimental('1.0'))] };
    const [finding] = judgeStoredVersions(facts(some), to('1.7'), none);
    expect(finding?.commands[0]).toBe(
      `kubectl apply --server-side -f https://raw.githubusercontent.com/kubernetes-sigs/gateway-api/v1.1.1/config/crd/experimental/${group}_grpcroutes.yaml`,
    );
    expect(finding?.message).toContain('Install the CRD of v1.1 experimental first');
    const [guarded] = judgeStoredVersions(
      facts({ ...some, policies: new Map([[`safe-upgrades.${group}`, 'v1.7.0']]) }),
      to('1.7'),
      none,
    );
    expect(guarded?.commands.slice(0, 2)).toEqual([
      `kubectl delete validatingadmissionpolicybinding,validatingadmissionpolicy safe-upgrades.${group}`,
      finding?.commands[0],
    ]);
  });

  test('no release has v1alpha2 of BackendTLSPolicy with a later version: the objects are created again', () => {
    const [finding] = judgeStoredVersions(
      facts({ definitions: [definition('BackendTLSPolicy', ['v1alpha2'], experimental('1.0'))] }),
      to('1.7'),
      none,
    );
    expect(finding?.message).toContain('export the objects, delete the CRD with its objects');
    expect(finding?.commands.map((command) => command.split(' ').slice(0, 3).join(' '))).toEqual([
      `kubectl get backendtlspolicies.${group}`,
      'kubectl delete crd',
      'kubectl apply --server-side',
      `"\${EDITOR:-vi}" backendtlspolicies.${group}.yaml `,
      'kubectl create -f',
    ]);
  });

  test('objects that the new version rejects are named', () => {
    const [finding] = judgeStoredVersions(
      facts({ definitions: [definition('TCPRoute', ['v1alpha2'], experimental('1.5'))] }),
      to('1.7'),
      new Map([['TCPRoute', { count: 2, rejected: ['shop/app'] }]]),
    );
    expect(finding?.message).toContain('shop/app: rejected in the new version.');
    expect(finding?.commands[0]).toContain('kubectl replace --validate=false -f -');
  });
});
