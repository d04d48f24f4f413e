import { describe, expect, test } from '@jest/globals';
import { grpcRouteWith, remarks, soundRoute } from '../../../../support/rules.ts';

const backendRef = { name: 'auth', port: 80 };
const settings: Readonly<Record<string, object>> = {
  CORS: { cors: { allowOrigins: ['https://shop.example.com'] } },
  ExtensionRef: { extensionRef: { group: 'example.com', kind: 'RateLimit', name: 'slow' } },
  ExternalAuth: { externalAuth: { protocol: 'HTTP', http: {}, backendRef } },
  RequestHeaderModifier: { requestHeaderModifier: { remove: ['x-user'] } },
  RequestMirror: { requestMirror: { backendRef } },
  RequestRedirect: { requestRedirect: { scheme: 'https' } },
  ResponseHeaderModifier: { responseHeaderModifier: { remove: ['server'] } },
  URLRewrite: { urlRewrite: { hostname: 'cart.example.com' } },
};
const filters = (...types: readonly string[]): readonly object[] => types.map((type) => ({ type, ...settings[type] }));
const object = (...types: readonly string[]): unknown => soundRoute({ filters: filters(...types) });

const redirected =
  'Filter ExternalAuth comes after RequestRedirect (filters[0]): every request is redirected before it is authorized. Move ExternalAuth before RequestRedirect.';
const copied =
  'Filter ExternalAuth comes after RequestMirror (filters[0]): requests are mirrored to another backend before they are authorized. Move ExternalAuth before RequestMirror.';

describe('filter-order', () => {
  test.each([
    [['CORS', 'ExternalAuth', 'RequestMirror', 'RequestRedirect']],
    [['ExternalAuth', 'RequestRedirect']],
    [['RequestHeaderModifier', 'URLRewrite', 'ExternalAuth', 'RequestHeaderModifier']],
    [['RequestMirror', 'CORS', 'RequestMirror', 'RequestHeaderModifier']],
    [['RequestRedirect', 'ResponseHeaderModifier', 'ExtensionRef', 'RequestHeaderModifier', 'RequestMirror']],
    [['ExtensionRef', 'ExternalAuth', 'ExtensionRef']],
  ])('%j is fine', (types) => {
    expect(remarks('filter-order', object(...types))).toEqual([]);
  });

  test.each<[readonly string[], ...[path: string, message: string][]]>([
    [
      ['RequestRedirect', 'ExternalAuth'],
      ['spec.rules[0].filters[1]', redirected],
    ],
    [
      ['RequestRedirect', 'RequestHeaderModifier', 'CORS'],
      [
        'spec.rules[0].filters[2]',
        'Filter CORS comes after RequestRedirect (filters[0]): preflight requests are redirected, and browsers do not follow such redirects. Move CORS before RequestRedirect.',
      ],
    ],
    [
      ['URLRewrite', 'ExternalAuth', 'CORS'],
      [
        'spec.rules[0].filters[2]',
        'Filter CORS comes after ExternalAuth (filters[1]): preflight requests never carry credentials, so they are rejected before the CORS filter can respond. Move CORS before ExternalAuth.',
      ],
    ],
    [
      ['RequestMirror', 'RequestMirror', 'ExternalAuth', 'RequestMirror'],
      ['spec.rules[0].filters[2]', copied],
    ],
    [
      ['RequestRedirect', 'RequestMirror', 'ExternalAuth'],
      ['spec.rules[0].filters[2]', redirected],
    ],
  ])('%j', (types, ...expected) => {
    expect(remarks('filter-order', object(...types))).toEqual(expected);
  });

  test('looks at the filters of a backendRef', () => {
    const route = soundRoute({
      backendRefs: [{ name: 'cart', port: 80, filters: filters('RequestMirror', 'ExternalAuth') }],
    });
    expect(remarks('filter-order', route)).toEqual([['spec.rules[0].backendRefs[0].filters[1]', copied]]);
  });

  test('leaves GRPCRoutes alone, in which order means nothing', () => {
    expect(remarks('filter-order', grpcRouteWith({ filters: filters('RequestMirror', 'ExternalAuth') }))).toEqual([]);
  });
});
