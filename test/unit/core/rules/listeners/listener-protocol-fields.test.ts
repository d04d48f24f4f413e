import { describe, expect, test } from '@jest/globals';
import { listenerProtocolFields } from '../../../../../src/core/rules/listeners/listener-protocol-fields.ts';
import { consequences, gatewayWith, judge, objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('listener-protocol-fields', () => {
  test.each<[string, unknown]>([
    ['HTTP', { protocol: 'HTTP', hostname: 'a.example' }],
    ['HTTPS', { protocol: 'HTTPS', hostname: 'a.example', tls: { certificateRefs: [{ name: 'a' }] } }],
    ['HTTPS that terminates', { protocol: 'HTTPS', tls: { mode: 'Terminate' } }],
    ['HTTPS without tls, the concern of another rule', { protocol: 'HTTPS' }],
    ['TLS', { protocol: 'TLS', hostname: 'a.example', tls: { mode: 'Passthrough' } }],
    ['TLS by default', { protocol: 'TLS', tls: {} }],
    ['TCP', { protocol: 'TCP', hostname: '' }],
    ['UDP', { protocol: 'UDP' }],
    ['a protocol of somebody else', { protocol: 'example.com/x', hostname: 'a.example', tls: { mode: 'Other' } }],
    ['no protocol', { tls: {} }],
    ['tls that cannot be read', { protocol: 'TLS', tls: 'x' }],
  ])('%s is fine', (_, listener) => {
    expect(judge(listenerProtocolFields, gatewayWith(listener))).toEqual([]);
  });

  test.each<[string, unknown, string, string]>([
    [
      'HTTP with tls',
      { protocol: 'HTTP', tls: {} },
      'tls',
      'tls conflicts with protocol HTTP, which has no TLS. Remove tls, or use protocol: HTTPS.',
    ],
    [
      'TCP with tls',
      { protocol: 'TCP', tls: {} },
      'tls',
      'tls conflicts with protocol TCP, which has no TLS. Remove tls, or use protocol: TLS.',
    ],
    [
      'UDP with tls',
      { protocol: 'UDP', tls: {} },
      'tls',
      'tls conflicts with protocol UDP, which has no TLS. Remove tls.',
    ],
    [
      'TCP with a hostname',
      { protocol: 'TCP', hostname: 'a.example' },
      'hostname',
      'hostname conflicts with protocol TCP, which carries no hostname. Remove hostname, or use protocol: TLS.',
    ],
    [
      'UDP with a hostname',
      { protocol: 'UDP', hostname: 'a.example' },
      'hostname',
      'hostname conflicts with protocol UDP, which carries no hostname. Remove hostname.',
    ],
    [
      'HTTPS passed through',
      { protocol: 'HTTPS', tls: { mode: 'Passthrough' } },
      'tls.mode',
      'Invalid mode "Passthrough": a listener with protocol HTTPS must terminate TLS. Use mode: Terminate, or use protocol: TLS for passthrough.',
    ],
    [
      'TLS without tls',
      { protocol: 'TLS' },
      'tls',
      'tls is required with protocol TLS. Set tls with mode: Passthrough, or with mode: Terminate and certificateRefs.',
    ],
  ])('%s', (_, listener, at, message) => {
    const gateway = gatewayWith({ protocol: 'HTTP' }, listener);
    expect(judge(listenerProtocolFields, gateway)).toEqual([[`spec.listeners[1].${at}`, message]]);
    expect(consequences(listenerProtocolFields, gateway)).toEqual(['Accepted UnsupportedValue listener']);
  });

  test.each(['Gateway', 'ListenerSet'])('filters of a %s need HTTP, whatever bundle let others in', (kind) => {
    const owner = objectOf(kind, 'v1', {
      listeners: [
        { name: 'a', port: 1, protocol: 'TCP', filters: { requests: [] } },
        { name: 'b', port: 2, protocol: 'HTTP', filters: {} },
      ],
    });
    expect(judge(listenerProtocolFields, owner)).toEqual([
      [
        'spec.listeners[0].filters',
        'filters conflicts with protocol TCP: filters apply to HTTP requests. Remove filters, or use protocol: HTTP or HTTPS.',
      ],
    ]);
  });
});

describe('bundles on fields that do not go with a protocol', () => {
  const with1 = (kind: string, version: string, listener: object): unknown =>
    objectOf(kind, version, { listeners: [{ name: 'a', port: 1, ...listener }] });
  const always = ['standard 1.0–1.7', 'experimental 1.0–1.7'];

  test.each<[object, readonly string[]]>([
    [{ protocol: 'HTTP', tls: { mode: 'Passthrough' } }, always],
    [{ protocol: 'UDP', tls: {} }, always],
    [{ protocol: 'TCP', hostname: 'a.example' }, always],
    [{ protocol: 'HTTPS' }, ['standard 1.0–1.0', 'experimental 1.0–1.0']],
    [{ protocol: 'HTTPS', tls: { mode: 'Passthrough' } }, ['standard 1.1–1.7', 'experimental 1.1–1.7']],
    [{ protocol: 'TLS', tls: { mode: 'Passthrough' } }, []],
    [{ protocol: 'TCP', filters: {} }, ['experimental 1.7–1.7']],
    [{ protocol: 'example.com/a', filters: {} }, ['experimental 1.7–1.7']],
    [{ protocol: 'HTTPS', tls: {}, filters: {} }, []],
  ])('%j', (listener, bundles) => {
    expect(refusingBundles('listener-protocol-fields', with1('Gateway', 'v1', listener))).toEqual(bundles);
  });

  test('TLS without tls was let through from v1.1 to v1.4', () => {
    const refused = (minor: '1.0' | '1.1' | '1.4' | '1.5') =>
      refusals('listener-protocol-fields', with1('Gateway', 'v1', { protocol: 'TLS' }), { minor, channel: 'standard' })
        .length;
    expect([refused('1.0'), refused('1.1'), refused('1.4'), refused('1.5')]).toEqual([1, 0, 0, 1]);
  });

  test('ListenerSets are asked the same, but for filters', () => {
    expect(refusingBundles('listener-protocol-fields', with1('ListenerSet', 'v1', { protocol: 'TLS' }))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.5–1.7',
    ]);
    expect(
      refusingBundles('listener-protocol-fields', with1('ListenerSet', 'v1', { protocol: 'TCP', filters: {} })),
    ).toEqual([]);
    expect(refusingBundles('listener-protocol-fields', with1('XListenerSet', 'v1alpha1', { protocol: 'TLS' }))).toEqual(
      [],
    );
    expect(
      refusingBundles('listener-protocol-fields', with1('XListenerSet', 'v1alpha1', { protocol: 'HTTP', tls: {} })),
    ).toEqual(['experimental 1.3–1.4']);
  });

  test('words for what only bundles say', () => {
    expect(refusals('listener-protocol-fields', with1('Gateway', 'v1', { protocol: 'TCP', filters: {} }))).toEqual([
      [
        'spec.listeners[0].filters',
        'filters conflicts with protocol TCP: filters apply to HTTP requests. Remove filters, or use protocol: HTTP or HTTPS.',
      ],
    ]);
    expect(
      refusals('listener-protocol-fields', with1('Gateway', 'v1', { protocol: 'HTTPS' }), {
        minor: '1.0',
        channel: 'standard',
      }),
    ).toEqual([
      [
        'spec.listeners[0].tls',
        'tls is required with protocol HTTPS in this bundle. Set tls with certificateRefs, or use protocol: HTTP.',
      ],
    ]);
  });
});
