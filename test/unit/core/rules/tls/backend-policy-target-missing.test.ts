import { describe, expect, test } from '@jest/globals';
import { found, serviceWith } from '../../../../support/evaluation.ts';
import { backendTlsPolicy } from '../../../../support/backend-tls.ts';

const judged = (targetRef: object, ...others: readonly unknown[]) =>
  found('backend-policy-target-missing', [
    backendTlsPolicy('a', { targetRefs: [{ group: '', kind: 'Service', name: 'cart', ...targetRef }] }),
    ...others,
  ]);
const service = serviceWith({
  ports: [
    { port: 443, name: 'https' },
    { port: 8443, name: 'admin' },
  ],
});

describe('backend-policy-target-missing', () => {
  test('a Service that is not there', () => {
    expect(judged({}, serviceWith({}, 'cart', 'garden'))).toEqual([
      [
        'spec.targetRefs[0].name',
        'Service "shop/cart" not found. Check the name, or create it. A policy can target only Services in its own namespace.',
        'Accepted TargetNotFound target',
      ],
    ]);
  });

  test.each([
    ['443', service, 'its ports are https, admin'],
    [
      'https',
      serviceWith({ ports: Array.from({ length: 1_000 }, (_, index) => ({ port: index + 1, name: `p${index}` })) }),
      'its ports are p0, p1, p2, p3, p4 and 995 more',
    ],
    ['https', serviceWith({ ports: [{ port: 443 }] }), 'its ports have no names'],
  ])('a port %s that it does not have', (sectionName, present, words) => {
    expect(judged({ sectionName }, present)).toEqual([
      ['spec.targetRefs[0].sectionName', expect.stringContaining(words), 'Accepted TargetNotFound target'],
    ]);
  });

  test('is silent where all is there, and about other kinds', () => {
    expect(judged({}, service)).toEqual([]);
    expect(judged({ sectionName: 'admin' }, service)).toEqual([]);
    expect(judged({ group: 'example.com', kind: 'Backend' })).toEqual([]);
  });
});
