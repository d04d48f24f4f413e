import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (ref: object): unknown =>
  soundGateway(
    { port: 443, protocol: 'HTTPS', tls: { certificateRefs: [{ name: 'cart' }] } },
    {
      tls: {
        frontend: {
          default: {
            validation: {
              caCertificateRefs: [
                { group: 'certificates.k8s.io', kind: 'ClusterTrustBundle', name: 'partners', ...ref },
              ],
            },
          },
        },
      },
    },
  );
const bundle = { minor: '1.7', channel: 'standard' } as const;

describe('trust-bundle-namespace-ignored', () => {
  test.each<[object]>([[{}], [{ group: '', kind: 'ConfigMap', namespace: 'shop' }]])('%j is fine', (value) => {
    expect(remarks('trust-bundle-namespace-ignored', object(value), bundle)).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { namespace: 'shop' },
      [
        'spec.tls.frontend.default.validation.caCertificateRefs[0].namespace',
        'Namespace "shop" is ignored: ClusterTrustBundle is cluster-scoped. The experimental channel rejects it. Remove namespace.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('trust-bundle-namespace-ignored', object(value), bundle)).toEqual(expected);
  });
});
