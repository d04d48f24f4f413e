import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith } from '../../../../support/rules.ts';

const plain = { protocol: 'HTTP', port: 80 };
const secure = { protocol: 'HTTPS', port: 80, tls: { certificateRefs: [{ name: 'good' }] } };
const passthrough = { protocol: 'TLS', port: 80, tls: { mode: 'Passthrough' } };
const conflicts = (...listeners: readonly object[]) =>
  found('listener-conflict', [gatewayWith(...listeners), ourClass]);
const message = (others: string, shared: string, cure: string) =>
  `Listener conflicts with ${others}: they use port 80 with ${shared}, and none of them is served. Use distinct ${cure}.`;

describe('listener-conflict', () => {
  test('one port and hostname: all of them conflict, none wins', () => {
    expect(
      conflicts({ name: 'a', ...plain }, { name: 'b', ...plain, hostname: 'a.example.com' }, { name: 'c', ...plain }),
    ).toEqual([
      [
        'spec.listeners[0]',
        message('c', 'the same hostname', 'ports or hostnames'),
        'Conflicted HostnameConflict listener',
      ],
      [
        'spec.listeners[2]',
        message('a', 'the same hostname', 'ports or hostnames'),
        'Conflicted HostnameConflict listener',
      ],
    ]);
  });

  test('hostnames are compared ignoring case', () => {
    expect(
      conflicts({ name: 'a', ...plain, hostname: 'a.example.com' }, { name: 'b', ...plain, hostname: 'A.example.com' }),
    ).toHaveLength(2);
  });

  test('one port with two protocols', () => {
    expect(conflicts({ name: 'a', ...plain, hostname: 'a.example.com' }, { name: 'b', ...secure })).toEqual([
      ['spec.listeners[0]', message('b', 'different protocols', 'ports'), 'Conflicted ProtocolConflict listener'],
      ['spec.listeners[1]', message('a', 'different protocols', 'ports'), 'Conflicted ProtocolConflict listener'],
    ]);
  });

  test.each([
    ['TCP beside HTTP', { name: 'a', protocol: 'TCP', port: 80 }, { name: 'b', ...plain }],
    ['HTTPS and TLS of one host', { name: 'a', ...secure }, { name: 'b', ...passthrough }],
  ])('%s', (_, one, other) => {
    expect(conflicts(one, other).map(([, , consequence]) => consequence)).toEqual([
      'Conflicted ProtocolConflict listener',
      'Conflicted ProtocolConflict listener',
    ]);
  });

  test.each([
    [
      'two TLS modes for one host',
      { name: 'a', ...passthrough },
      { name: 'b', ...passthrough, tls: { mode: 'Terminate' } },
    ],
    ['two TCP listeners', { name: 'a', protocol: 'TCP', port: 90 }, { name: 'b', protocol: 'TCP', port: 90 }],
    ['two UDP listeners', { name: 'a', protocol: 'UDP', port: 90 }, { name: 'b', protocol: 'UDP', port: 90 }],
  ])('%s', (_, one, other) => {
    expect(conflicts(one, other).map(([, , consequence]) => consequence)).toEqual([
      'Conflicted HostnameConflict listener',
      'Conflicted HostnameConflict listener',
    ]);
  });

  test('names no more than three others', () => {
    const five = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name, ...plain }));
    expect(conflicts(...five).map(([, text]) => text)).toContain(
      message('a, b, c', 'the same hostname', 'ports or hostnames'),
    );
  });

  test.each<[string, readonly object[]]>([
    [
      'hostnames of their own',
      [
        { name: 'a', ...plain, hostname: 'a.example.com' },
        { name: 'b', ...plain, hostname: '*.example.com' },
        { name: 'c', ...plain },
      ],
    ],
    [
      'ports of their own',
      [
        { name: 'a', ...plain },
        { name: 'b', ...secure, port: 443 },
      ],
    ],
    [
      'a protocol that is not served',
      [
        { name: 'a', protocol: 'example.com/raw', port: 80 },
        { name: 'b', ...plain },
      ],
    ],
    [
      'TCP and UDP',
      [
        { name: 'a', protocol: 'TCP', port: 53 },
        { name: 'b', protocol: 'UDP', port: 53 },
      ],
    ],
    [
      'HTTPS and TLS of two hosts',
      [
        { name: 'a', ...secure, hostname: 'a.example.com' },
        { name: 'b', ...passthrough, hostname: 'b.example.com' },
        { name: 'c', ...passthrough, tls: { mode: 'Terminate' }, hostname: 'c.example.com' },
      ],
    ],
  ])('%s are fine', (_, listeners) => {
    expect(conflicts(...listeners)).toEqual([]);
  });
});
