import { describe, expect, test } from '@jest/globals';
import type { FilterBackends } from '../../../../src/core/graph/backends/backends.ts';
import { compileBackendFilters, compileFilters } from '../../../../src/core/routing/compile-filters.ts';

const target = { group: '', kind: 'Service', namespace: 'shop', name: 'copy', port: 80 };
const found: FilterBackends[number] = {
  target,
  outcome: { type: 'service', kind: 'Service', namespace: 'shop', name: 'copy', port: '80' },
};
const missing: FilterBackends[number] = { target, outcome: { type: 'absent' } };
const endpoints = { type: 'endpoints', key: 'endpoints/shop/copy/80' };

describe('filters as the data plane takes them', () => {
  test.each([
    [{}, 100, 100],
    [{ percent: 0 }, 0, 100],
    [{ percent: 25 }, 25, 100],
    [{ fraction: { numerator: 1, denominator: 3 } }, 1, 3],
    [{ fraction: { numerator: 7 } }, 7, 100],
  ])('a mirror with %j', (share, numerator, denominator) => {
    expect(compileFilters([{ type: 'RequestMirror', requestMirror: share }], { 0: found })).toEqual([
      { type: 'mirror', target: endpoints, numerator, denominator },
    ]);
  });

  test('mirrors are found by their position among all filters', () => {
    const filters = [{ type: 'URLRewrite' }, { type: 'RequestMirror' }, { type: 'RequestMirror' }];
    expect(compileFilters(filters, { 1: missing, 2: found }).slice(1)).toEqual([
      { type: 'mirror', target: { type: 'invalid', reason: 'absent' }, numerator: 100, denominator: 100 },
      { type: 'mirror', target: endpoints, numerator: 100, denominator: 100 },
    ]);
  });

  test('CORS has its defaults, and origins in one spelling', () => {
    const nothing = {
      type: 'cors',
      allowOrigins: [],
      allowCredentials: false,
      allowMethods: [],
      allowHeaders: [],
      exposeHeaders: [],
      maxAge: 5,
    };
    expect(compileFilters([{ type: 'CORS', cors: {} }], {})).toEqual([nothing]);
    expect(compileFilters([{ type: 'CORS' }], {})).toEqual([nothing]);
    const cors = {
      allowOrigins: ['https://A.example.com:443', 'https://a.example.com'],
      allowCredentials: true,
      allowMethods: ['PUT'],
      allowHeaders: ['X-A'],
      exposeHeaders: ['x-b'],
      maxAge: 60,
    };
    expect(compileFilters([{ type: 'CORS', cors }], {})).toEqual([
      { type: 'cors', ...cors, allowOrigins: ['https://a.example.com'] },
    ]);
  });

  test('an authorization server has its defaults, and permits nothing without a reference', () => {
    const plain = {
      type: 'authorization',
      target: endpoints,
      protocol: 'http',
      requestHeaders: [],
      responseHeaders: [],
      path: '',
      maxBody: 0,
    };
    expect(
      compileFilters([{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: {} } }], { 0: found }),
    ).toEqual([plain]);
    expect(compileFilters([{ type: 'ExternalAuth' }], {})).toEqual([
      { ...plain, target: { type: 'invalid', reason: 'absent' } },
    ]);
    const http = { allowedHeaders: ['cookie'], allowedResponseHeaders: ['x-user'], path: '/check' };
    expect(
      compileFilters(
        [{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http, forwardBody: { maxSize: 7 } } }],
        { 0: missing },
      ),
    ).toEqual([
      {
        ...plain,
        target: { type: 'invalid', reason: 'absent' },
        requestHeaders: ['cookie'],
        responseHeaders: ['x-user'],
        path: '/check',
        maxBody: 7,
      },
    ]);
    expect(
      compileFilters(
        [{ type: 'ExternalAuth', externalAuth: { protocol: 'GRPC', grpc: { allowedHeaders: ['x-a'] } } }],
        { 0: found },
      ),
    ).toEqual([{ ...plain, protocol: 'grpc', requestHeaders: ['x-a'] }]);
  });

  test('on a backendRef there are neither redirects nor CORS nor authorization', () => {
    const filters = [
      'RequestRedirect',
      'CORS',
      'ExternalAuth',
      'RequestHeaderModifier',
      'URLRewrite',
      'RequestMirror',
    ].map((type) => ({ type }));
    expect(compileBackendFilters(filters, { 5: found }).map(({ type }) => type)).toEqual([
      'requestHeaders',
      'rewrite',
      'mirror',
    ]);
  });
});
