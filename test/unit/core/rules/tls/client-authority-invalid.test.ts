import { describe, expect, test } from '@jest/globals';
import { authorityCell, installationCell } from '../../../../../src/core/graph/inputs.ts';
import { write } from '../../../../../src/core/incremental/index.ts';
import { linkFindings } from '../../../../../src/core/rules/engine/link-findings.ts';
import {
  evaluate,
  found,
  grantIn,
  installation,
  listenerSet,
  ourClass,
  type Facts,
} from '../../../../support/evaluation.ts';
import { validatingGateway } from '../../../../support/client-validation.ts';

const facts: Facts = {
  authorities: {
    'shop/clients': { type: 'authorities', certificates: ['PEM'] },
    'vault/clients': { type: 'authorities', certificates: ['PEM'] },
    'shop/empty': { type: 'unusable', problem: 'ca.crt not found in its data' },
    '/example.com:good': { type: 'authorities', certificates: ['PEM'] },
    '/example.com:empty': { type: 'unusable', problem: 'spec.trustBundle is not a string' },
  },
};
const judged = (refs: readonly object[], ...others: readonly unknown[]) =>
  found(
    'client-authority-invalid',
    [validatingGateway({ default: { validation: { caCertificateRefs: refs } } }), ourClass, ...others],
    facts,
  );
const begin =
  'Client validation uses spec.tls.frontend.default.validation.caCertificateRefs[0] of the Gateway, which is invalid:';

describe('client-authority-invalid', () => {
  test('one with which there are more than 100 certificates', () => {
    const some = (count: number) => ({ type: 'authorities' as const, certificates: Array(count).fill('PEM') });
    const refs = ['sixty', 'fifty', 'forty'].map((name) => ({ group: '', kind: 'ConfigMap', name }));
    const gateway = validatingGateway({ default: { validation: { caCertificateRefs: refs } } });
    const authorities = { 'shop/sixty': some(60), 'shop/forty': some(40), 'shop/fifty': some(50) };
    expect(found('client-authority-invalid', [gateway, ourClass], { authorities })).toEqual([
      [
        'spec.listeners[0].port',
        'Client validation uses spec.tls.frontend.default.validation.caCertificateRefs[1] of the Gateway, which is invalid: ConfigMap "shop/fifty" is invalid: with the references before it, there are 110 CA certificates, more than the limit of 100. Remove certificates that clients or backends do not need.',
        'ResolvedRefs InvalidCACertificateRef listener',
      ],
    ]);
  });

  test.each<[string, object, string, string]>([
    [
      'is not there',
      { kind: 'ConfigMap', name: 'gone' },
      'ConfigMap "shop/gone" not found.',
      'InvalidCACertificateRef',
    ],
    [
      'holds no certificate',
      { kind: 'ConfigMap', name: 'empty' },
      'ConfigMap "shop/empty" is invalid: ca.crt not found in its data.',
      'InvalidCACertificateRef',
    ],
    [
      'is of another kind',
      { kind: 'Secret', name: 'clients' },
      'unsupported CA certificate kind Secret.',
      'InvalidCACertificateKind',
    ],
    [
      'is of another group',
      { group: 'example.com', kind: 'ClusterTrustBundle', name: 'clients' },
      'unsupported CA certificate kind example.com/ClusterTrustBundle.',
      'InvalidCACertificateKind',
    ],
    [
      'is a ClusterTrustBundle that is not there',
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:gone' },
      'ClusterTrustBundle "example.com:gone" not found. Check its name, or create it with a PEM bundle in spec.trustBundle.',
      'InvalidCACertificateRef',
    ],
    [
      'is a ClusterTrustBundle without certificates',
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:empty' },
      'ClusterTrustBundle "example.com:empty" is invalid: spec.trustBundle is not a string.',
      'InvalidCACertificateRef',
    ],
    [
      'is in another namespace',
      { kind: 'ConfigMap', name: 'clients', namespace: 'vault' },
      'reference to ConfigMap "vault/clients" is not permitted: it is in another namespace.',
      'RefNotPermitted',
    ],
  ])('one that %s', (_, ref, message, reason) => {
    expect(judged([{ group: '', ...ref }])).toEqual([
      ['spec.listeners[0].port', expect.stringContaining(`${begin} ${message}`), `ResolvedRefs ${reason} listener`],
    ]);
  });

  test('a ReferenceGrant admits it from another namespace', () => {
    const grant = grantIn(
      'vault',
      { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop' },
      { group: '', kind: 'ConfigMap' },
    );
    expect(judged([{ group: '', kind: 'ConfigMap', name: 'clients', namespace: 'vault' }], grant)).toEqual([]);
  });

  test('a ClusterTrustBundle needs neither a grant nor a namespace, and an API server that serves it', () => {
    const refs = [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:good' }];
    expect(judged(refs)).toEqual([]);
    // The standard channel accepts the field; the kind has no namespaces.
    expect(judged(refs.map((ref) => ({ ...ref, namespace: 'vault' })))).toEqual([]);
    const gateway = validatingGateway({ default: { validation: { caCertificateRefs: refs } } });
    const world = evaluate([gateway, ourClass], facts);
    const told = () =>
      world.kernel.read
        .query(linkFindings, 'Gateway', 'shop', 'front')
        .filter(({ rule }) => rule.startsWith('client-authority-'))
        .map(({ rule, consequence, message }) => [rule, consequence?.reason, message]);
    world.kernel.apply([write(installationCell, [], { ...installation, notInstalled: ['ClusterTrustBundle'] })]);
    expect(told()).toEqual([
      [
        'client-authority-invalid',
        'InvalidCACertificateKind',
        `${begin} the API server does not serve kind ClusterTrustBundle. Upgrade Kubernetes to 1.37, or use kind: ConfigMap and group: "".`,
      ],
      ['client-authority-missing', undefined, expect.stringContaining('No valid CA certificate')],
    ]);
    world.kernel.apply([write(installationCell, [], installation)]);
    expect(told()).toEqual([]);
    world.kernel.apply([write(authorityCell, ['', 'example.com:good'], undefined)]);
    expect(told().map(([rule]) => rule)).toEqual(['client-authority-invalid', 'client-authority-missing']);
    // Nothing is said where ClusterTrustBundles may exist unseen.
    world.kernel.apply([write(installationCell, [], { ...installation, unobserved: ['ClusterTrustBundle'] })]);
    expect(told()).toEqual([]);
  });

  test('concerns listeners of ListenerSets, too', () => {
    const gateway = validatingGateway({
      default: { validation: { caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'gone' }] } },
    });
    const set = listenerSet({
      parentRef: { name: 'front' },
      listeners: [
        { name: 'more', port: 444, protocol: 'HTTPS' },
        { name: 'plain', port: 80, protocol: 'HTTP' },
      ],
    });
    expect(found('client-authority-invalid', [set, gateway, ourClass], facts).map(([path]) => path)).toEqual([
      'spec.listeners[0].port',
    ]);
  });
});
