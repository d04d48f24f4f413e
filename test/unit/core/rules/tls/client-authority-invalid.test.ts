import { describe, expect, test } from '@jest/globals';
import { found, grantIn, listenerSet, ourClass, type Facts } from '../../../../support/evaluation.ts';
import { validatingGateway } from '../../../../support/client-validation.ts';

const facts: Facts = {
  authorities: {
    'shop/clients': { type: 'authorities', certificates: ['PEM'] },
    'vault/clients': { type: 'authorities', certificates: ['PEM'] },
    'shop/empty': { type: 'unusable', problem: 'ca.crt is missing from its data' },
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
      'ConfigMap "shop/empty" has no valid certificate: ca.crt is missing from its data.',
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
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'clients' },
      'unsupported CA certificate kind certificates.k8s.io/ClusterTrustBundle.',
      'InvalidCACertificateKind',
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
