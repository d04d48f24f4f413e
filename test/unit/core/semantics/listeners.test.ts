import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { conflictBetween, ListenerClaims, type ListenerClaim } from '../../../../src/core/semantics/listeners.ts';

function claim(text: string): ListenerClaim {
  const [protocol = '', port = '', hostname] = text.split(' ');
  return { protocol, port: Number(port), ...(hostname === undefined ? {} : { hostname }) };
}

describe('two listeners', () => {
  test.each([
    ['HTTP 80', 'HTTP 80', 'HostnameConflict'],
    ['HTTP 80 a.example', 'HTTP 80 A.example', 'HostnameConflict'],
    ['HTTP 80 a.example', 'HTTP 80 *.example', undefined],
    ['HTTP 80', 'HTTP 81', undefined],
    ['HTTP 443 a.example', 'HTTPS 443 b.example', 'ProtocolConflict'],
    ['HTTP 443', 'TLS 443 b.example', 'ProtocolConflict'],
    ['HTTPS 443 a.example', 'TLS 443 b.example', undefined],
    ['HTTPS 443', 'TLS 443 b.example', undefined],
    ['HTTPS 443 a.example', 'TLS 443 a.example', 'ProtocolConflict'],
    ['HTTPS 443', 'TLS 443', 'ProtocolConflict'],
    ['TCP 443', 'HTTPS 443 a.example', 'ProtocolConflict'],
    ['TCP 443', 'TLS 443 a.example', 'ProtocolConflict'],
    ['TCP 80', 'HTTP 80 a.example', 'ProtocolConflict'],
    ['TCP 80 a.example', 'TCP 80 b.example', 'HostnameConflict'],
    ['UDP 53', 'TCP 53', undefined],
    ['UDP 443', 'HTTPS 443', undefined],
    ['UDP 53', 'UDP 53', 'HostnameConflict'],
    ['example.com/quic 443', 'HTTPS 443', undefined],
    ['example.com/quic 443', 'example.com/quic 443', 'HostnameConflict'],
  ])('%s and %s: %s', (one, other, reason) => {
    expect(conflictBetween(claim(one), claim(other))).toBe(reason);
    expect(conflictBetween(claim(other), claim(one))).toBe(reason);
  });
});

test('a set of listeners finds what pairs say', () => {
  const listener = fc.record(
    {
      protocol: fc.constantFrom('HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP', 'other'),
      port: fc.constantFrom(80, 443),
      hostname: fc.constantFrom('a', 'A', '*.b', ''),
    },
    { requiredKeys: ['protocol', 'port'] },
  );
  fc.assert(
    fc.property(fc.array(listener, { maxLength: 8 }), (listeners) => {
      const claims = new ListenerClaims<ListenerClaim>();
      for (const each of listeners) claims.add(each);
      for (const each of listeners) {
        const rivals = listeners.filter((other) => other !== each && conflictBetween(each, other) !== undefined);
        const reasons = new Set(rivals.map((other) => conflictBetween(each, other)));
        const reason = reasons.has('ProtocolConflict') ? 'ProtocolConflict' : 'HostnameConflict';
        const found = claims.conflictsOf(each, 20);
        expect(found?.reason).toBe(rivals.length === 0 ? undefined : reason);
        expect(new Set(found?.others)).toEqual(
          new Set(rivals.filter((other) => conflictBetween(each, other) === reason)),
        );
      }
    }),
  );
});

// There may be thousands of them on one port, for each of thousands of listeners.
test('a search for conflicts with another protocol reads only as many listeners as it may name', () => {
  let reads = 0;
  const counted = (hostname: string): ListenerClaim => ({
    protocol: 'HTTP',
    hostname,
    get port() {
      reads += 1;
      return 80;
    },
  });
  const claims = new ListenerClaims<ListenerClaim>();
  for (let number = 0; number < 100; number += 1) claims.add(counted(`host-${number}`));
  reads = 0;
  expect(claims.conflictsOf(claim('TCP 80'), 3)?.others.map(({ hostname }) => hostname)).toEqual([
    'host-0',
    'host-1',
    'host-2',
  ]);
  expect(reads).toBeLessThanOrEqual(4);
});
