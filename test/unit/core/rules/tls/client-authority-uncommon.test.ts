import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (...caCertificateRefs: readonly object[]): unknown =>
  soundGateway({}, { tls: { frontend: { default: { validation: { caCertificateRefs } } } } });
const authorities = { group: '', kind: 'ConfigMap', name: 'clients' };
const refs = 'spec.tls.frontend.default.validation.caCertificateRefs';

describe('client-authority-uncommon', () => {
  test.each<[object]>([
    [authorities],
    [{ group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'example.com:clients:v1' }],
  ])('%j is fine', (ref) => {
    expect(remarks('client-authority-uncommon', object(ref))).toEqual([]);
  });

  test('several references', () => {
    expect(remarks('client-authority-uncommon', object(authorities, { ...authorities, name: 'more' }))).toEqual([
      [
        refs,
        'There are 2 CA certificate references, but implementations are required to support only one. Put all certificates in one ConfigMap.',
      ],
    ]);
  });

  test.each<[object, string, string]>([
    [{ group: '', kind: 'Secret', name: 'clients' }, 'Secret', ''],
    [
      { group: 'certificates.k8s.io', kind: 'ClusterTrustBundles', name: 'a' },
      'ClusterTrustBundles',
      'certificates.k8s.io',
    ],
    [{ group: 'core', kind: 'ConfigMap', name: 'a' }, 'ConfigMap', 'core'],
  ])('%j', (ref, kind, group) => {
    expect(remarks('client-authority-uncommon', object(ref))).toEqual([
      [
        `${refs}[0].kind`,
        `Kind "${kind}" of group "${group}" is not portable: implementations are required to support only ConfigMap. Use kind: ConfigMap and group: "".`,
      ],
    ]);
  });

  test('for one port', () => {
    const gateway = soundGateway(
      {},
      {
        tls: {
          frontend: {
            perPort: [{ port: 443, tls: { validation: { caCertificateRefs: [{ ...authorities, kind: 'Secret' }] } } }],
          },
        },
      },
    );
    expect(remarks('client-authority-uncommon', gateway).map(([path]) => path)).toEqual([
      'spec.tls.frontend.perPort[0].tls.validation.caCertificateRefs[0].kind',
    ]);
  });
});
