import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const says = (field: string) =>
  `Unsupported field ${field}: it is ignored. Remove it, unless another controller also serves this object.`;

const experimental = { bundle: { minor: '1.7', channel: 'experimental' } } as const;

describe('feature-without-effect', () => {
  test('of a route', () => {
    expect(
      found('feature-without-effect', [httpRoute({ useDefaultGateways: 'All', rules: [{ retry: {} }] })], experimental),
    ).toEqual([
      ['spec.useDefaultGateways', says('useDefaultGateways'), 'sallyport.dev/FieldIgnored UnsupportedField object'],
    ]);
  });

  test('of a Gateway', () => {
    const listeners = [{ name: 'web', port: 443, protocol: 'HTTPS', tls: { options: { 'example.com/x': 'y' } } }];
    const spec = { gatewayClassName: 'sallyport', defaultScope: 'All', listeners };
    expect(found('feature-without-effect', [{ ...(gatewayWith() as object), spec }], experimental)).toEqual([
      ['spec.defaultScope', says('defaultScope'), 'sallyport.dev/FieldIgnored UnsupportedField object'],
      ['spec.listeners[0].tls.options', says('options'), 'sallyport.dev/FieldIgnored UnsupportedField listener'],
    ]);
  });

  test('asking for nothing is fine', () => {
    const spec = {
      gatewayClassName: 'sallyport',
      defaultScope: 'None',
      allowedListeners: { namespaces: { from: 'None' } },
      listeners: [],
    };
    expect(found('feature-without-effect', [{ ...(gatewayWith() as object), spec }], experimental)).toEqual([]);
    expect(
      found('feature-without-effect', [httpRoute({ useDefaultGateways: 'None', rules: [{}] })], experimental),
    ).toEqual([]);
  });
});
