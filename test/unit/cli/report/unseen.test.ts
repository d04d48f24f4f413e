import { describe, expect, test } from '@jest/globals';
import { unseenBy } from '../../../../src/cli/report/unseen.ts';

type Outcome = Parameters<typeof unseenBy>[1];
type Extent = Parameters<typeof unseenBy>[0];

const listener = {} as NonNullable<Outcome['listener']>;
const sent = (key: string, tls?: object): Outcome['shares'] =>
  [{ result: { type: 'send', endpoints: { key, ...(tls && { tls }) } } }] as unknown as Outcome['shares'];
const forwarded = { type: 'forward' } as Outcome['decision'];
const noRoute: Outcome = { listener, decision: { type: 'answer', reason: 'no-route' }, shares: [] };
const partly: Extent = {
  unobserved: ['HTTPRoute', 'BackendTLSPolicy'],
  observedOnlyIn: { HTTPRoute: 'team', BackendTLSPolicy: 'team' },
};

describe('unseenBy', () => {
  test('routes of other namespaces may match', () => {
    expect(unseenBy(partly, noRoute)).toEqual({
      routes: [
        'unknown: an object of kind HTTPRoute may match, and they are observed only in namespace "team" (no permission)',
      ],
      policies: [],
    });
    expect(unseenBy({ unobserved: [] }, noRoute)).toEqual({ routes: [], policies: [] });
    expect(unseenBy(partly, { ...noRoute, listener: undefined })).toEqual({ routes: [], policies: [] });
  });

  test('HostnamePolicies may permit the hostname elsewhere', () => {
    expect(
      unseenBy({ unobserved: ['HostnamePolicy'] }, { listener, decision: forwarded, shares: [] }).policies,
    ).toEqual([
      'unknown: a HostnamePolicy may permit the hostname in other namespaces only, and they are not observed (no permission)',
    ]);
  });

  test.each([
    ['endpoints/other/cart/80', undefined, 1],
    ['endpoints/other/cart/80', {}, 0],
    ['endpoints/team/cart/80', undefined, 0],
  ])('a BackendTLSPolicy for %s with TLS %j', (key, tls, count) => {
    const { policies } = unseenBy(partly, { listener, decision: forwarded, shares: sent(key, tls) });
    expect(policies).toEqual(
      count === 0
        ? []
        : [
            'unknown: a BackendTLSPolicy may require TLS to other/cart, and they are observed only in namespace "team" (no permission)',
          ],
    );
  });
});
