import { describe, expect, test } from '@jest/globals';
import { unobservedObjects } from '../../../../../src/cli/report/explain/unobserved-objects.ts';

type Outcome = Extract<Parameters<typeof unobservedObjects>[1], { readonly shares: unknown }>;
type OfConnection = Exclude<Parameters<typeof unobservedObjects>[1], Outcome>;
type Extent = Parameters<typeof unobservedObjects>[0];

const listenerWith = (protocol: string, tlsMode?: string) =>
  ({ protocol, ...(tlsMode && { tlsMode }) }) as NonNullable<Outcome['listener']>;
const listener = listenerWith('HTTP');
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
    expect(unobservedObjects(partly, noRoute)).toEqual({
      routes: [
        'unknown: an object of kind HTTPRoute may match, and they are observed only in namespace "team" (no permission)',
      ],
      policies: [],
    });
    expect(unobservedObjects({ unobserved: [] }, noRoute)).toEqual({ routes: [], policies: [] });
    expect(unobservedObjects(partly, { ...noRoute, listener: undefined })).toEqual({ routes: [], policies: [] });
  });

  test('HostnamePolicies may permit the hostname elsewhere', () => {
    expect(
      unobservedObjects({ unobserved: ['HostnamePolicy'] }, { listener, decision: forwarded, shares: [] }).policies,
    ).toEqual([
      'unknown: a HostnamePolicy may permit the hostname in other namespaces only, and they are not observed (no permission)',
    ]);
  });

  test.each([
    ['endpoints/other/cart/80', undefined, 1],
    ['endpoints/other/cart/80', {}, 0],
    ['endpoints/team/cart/80', undefined, 0],
  ])('a BackendTLSPolicy for %s with TLS %j', (key, tls, count) => {
    const { policies } = unobservedObjects(partly, { listener, decision: forwarded, shares: sent(key, tls) });
    expect(policies).toEqual(
      count === 0
        ? []
        : [
            'unknown: a BackendTLSPolicy may require TLS to other/cart, and they are observed only in namespace "team" (no permission)',
          ],
    );
  });

  test.each([
    ['TLS', 'TLSRoute'],
    ['TCP', 'TCPRoute'],
    ['UDP', 'UDPRoute'],
  ] as const)('a listener with protocol %s may have an unseen %s', (protocol, kind) => {
    const unobserved = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute', 'UDPRoute'] as const;
    const closed: OfConnection = { listener: listenerWith(protocol), decision: { type: 'close', reason: 'no-route' } };
    const routes = [`unknown: an object of kind ${kind} may match, and they are not observed (no permission)`];
    expect(unobservedObjects({ unobserved }, closed)).toEqual({ routes, policies: [] });
    expect(unobservedObjects({ unobserved: unobserved.filter((other) => other !== kind) }, closed).routes).toEqual([]);
  });

  test('no route of a connection matters if its requests are routed', () => {
    const https: OfConnection = { listener: listenerWith('HTTPS'), decision: { type: 'requests' } };
    expect(unobservedObjects({ unobserved: ['HTTPRoute', 'HostnamePolicy'] }, https)).toEqual({
      routes: [],
      policies: [],
    });
  });

  test.each([
    ['TCP', undefined, 1],
    ['TLS', 'Terminate', 1],
    ['TLS', 'Passthrough', 0],
    ['UDP', undefined, 0],
  ])('a BackendTLSPolicy for connections of a listener with protocol %s and mode %s', (protocol, mode, count) => {
    const decision = {
      type: 'forward',
      shares: sent('endpoints/other/cart/80'),
    } as unknown as OfConnection['decision'];
    const { policies } = unobservedObjects(partly, { listener: listenerWith(protocol, mode), decision });
    expect(policies).toHaveLength(count);
  });

  test.each([
    ['TLS', 1],
    ['TCP', 0],
  ])('a HostnamePolicy matters to a listener with protocol %s: %i', (protocol, count) => {
    const decision = { type: 'forward', shares: [] } as unknown as OfConnection['decision'];
    expect(
      unobservedObjects({ unobserved: ['HostnamePolicy'] }, { listener: listenerWith(protocol), decision }).policies,
    ).toHaveLength(count);
  });
});
