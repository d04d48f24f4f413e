import { describe, expect, test } from '@jest/globals';
import { listenerProtocolFields } from '../../../../src/core/rules/listener-protocol-fields.ts';
import { consequences, gatewayWith, judge } from '../../../support/rules.ts';

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
    ['HTTP with tls', { protocol: 'HTTP', tls: {} }, 'tls', 'A listener of protocol HTTP has no TLS, but tls is set. Remove tls, or write protocol: HTTPS.'],
    ['TCP with tls', { protocol: 'TCP', tls: {} }, 'tls', 'A listener of protocol TCP has no TLS, but tls is set. Remove tls, or write protocol: TLS.'],
    ['UDP with tls', { protocol: 'UDP', tls: {} }, 'tls', 'A listener of protocol UDP has no TLS, but tls is set. Remove tls.'],
    ['TCP with a hostname', { protocol: 'TCP', hostname: 'a.example' }, 'hostname', 'TCP carries no hostname that could be compared. Remove hostname, or write protocol: TLS.'],
    ['UDP with a hostname', { protocol: 'UDP', hostname: 'a.example' }, 'hostname', 'UDP carries no hostname that could be compared. Remove hostname.'],
    ['HTTPS passed through', { protocol: 'HTTPS', tls: { mode: 'Passthrough' } }, 'tls.mode', 'An HTTPS listener must read requests, so it has to terminate TLS. Write mode: Terminate, or protocol: TLS to pass connections through.'],
    ['TLS without tls', { protocol: 'TLS' }, 'tls', 'A listener of protocol TLS needs tls. Write tls with mode: Passthrough, or with mode: Terminate and certificateRefs.'],
  ])('%s', (_, listener, at, message) => {
    const gateway = gatewayWith({ protocol: 'HTTP' }, listener);
    expect(judge(listenerProtocolFields, gateway)).toEqual([[`spec.listeners[1].${at}`, message]]);
    expect(consequences(listenerProtocolFields, gateway)).toEqual(['Accepted UnsupportedValue listener']);
  });
});
