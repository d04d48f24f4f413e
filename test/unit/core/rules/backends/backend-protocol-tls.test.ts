import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('backend-protocol-tls', () => {
  const backendWith = (spec: object): unknown => objectOf('XBackend', 'v1alpha1', spec);

  test.each([
    [{ protocol: 'H2C' }],
    [{ protocol: 'H2C', tls: { mode: 'None' } }],
    [{ protocol: 'HTTP2', tls: { mode: 'ServerOnly' } }],
    [{ protocol: 'HTTP' }],
    [{}],
  ])('%j is fine', (spec) => {
    expect(refusals('backend-protocol-tls', backendWith(spec))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [
      { protocol: 'H2C', tls: { mode: 'ServerOnly' } },
      'spec.tls.mode',
      'Protocol H2C conflicts with tls: H2C is HTTP/2 without TLS. Remove tls, or use protocol: HTTP2.',
    ],
    [
      { protocol: 'HTTP2' },
      'spec.tls',
      'Protocol HTTP2 requires tls. Set tls with mode: ServerOnly and validation, or protocol: H2C for HTTP/2 without TLS.',
    ],
    [
      { protocol: 'WSS', tls: { mode: 'None' } },
      'spec.tls',
      'Protocol WSS requires tls. Set tls with mode: ServerOnly and validation.',
    ],
  ])('%j', (spec, path, message) => {
    expect(refusals('backend-protocol-tls', backendWith(spec))).toEqual([[path, message]]);
  });

  test('is new', () => {
    expect(refusingBundles('backend-protocol-tls', backendWith({ protocol: 'HTTP2' }))).toEqual([
      'experimental 1.7–1.7',
    ]);
  });
});
