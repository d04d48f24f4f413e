import { describe, expect, test } from '@jest/globals';
import { headerNameNotToken } from '../../../../../src/core/rules/headers/header-name-not-token.ts';
import { consequences, gatewayWith, judge, objectOf, routeWith } from '../../../../support/rules.ts';

const remove = (...names: readonly unknown[]) => ({
  filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: names } }],
});

describe('header-name-not-token', () => {
  test('tokens are fine, and what cannot be read is left to others', () => {
    expect(judge(headerNameNotToken, routeWith(remove('x-a', "!#$%&'*+-.^_`|~", 1)))).toEqual([]);
  });

  test.each([
    ['', 'Invalid header name "". Set a name, or remove the entry.'],
    ['x-a: b', 'Invalid header name "x-a: b". Use x-a, without spaces, colon and value.'],
    [' x-a', 'Invalid header name " x-a". Use x-a, without spaces, colon and value.'],
    [
      'x-a\r\nx-b: c',
      'Invalid header name "x-a\\r\\nx-b: c". Use letters, digits and hyphens, for example x-request-id.',
    ],
    ['größe', 'Invalid header name "größe". Use letters, digits and hyphens, for example x-request-id.'],
  ])('%j', (name, message) => {
    const route = routeWith(remove('x-a', name));
    expect(judge(headerNameNotToken, route)).toEqual([
      ['spec.rules[0].filters[0].requestHeaderModifier.remove[1]', message],
    ]);
    expect(consequences(headerNameNotToken, route)).toEqual(['Accepted UnsupportedValue rule']);
  });

  test('names of headers to set, add and match', () => {
    const bad = { name: 'a b', value: 'v' };
    const route = routeWith({
      matches: [{ headers: [bad] }],
      backendRefs: [
        {
          name: 'a',
          filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [bad], add: [bad] } }],
        },
      ],
    });
    expect(judge(headerNameNotToken, route).map(([path]) => path)).toEqual([
      'spec.rules[0].backendRefs[0].filters[0].responseHeaderModifier.add[0].name',
      'spec.rules[0].backendRefs[0].filters[0].responseHeaderModifier.set[0].name',
      'spec.rules[0].matches[0].headers[0].name',
    ]);
    expect(consequences(headerNameNotToken, route)).toEqual([
      'Accepted UnsupportedValue backendRef',
      'Accepted UnsupportedValue backendRef',
      'Accepted UnsupportedValue match',
    ]);
  });

  test('the lists of an external authorization server', () => {
    const externalAuth = {
      http: { allowedHeaders: ['a b'], allowedResponseHeaders: [''] },
      grpc: { allowedHeaders: ['c:'] },
    };
    expect(
      judge(headerNameNotToken, routeWith({ filters: [{ type: 'ExternalAuth', externalAuth }] }))
        .map(([path]) => path)
        .toSorted(),
    ).toEqual([
      'spec.rules[0].filters[0].externalAuth.grpc.allowedHeaders[0]',
      'spec.rules[0].filters[0].externalAuth.http.allowedHeaders[0]',
      'spec.rules[0].filters[0].externalAuth.http.allowedResponseHeaders[0]',
    ]);
    const listener = { name: 'a', filters: { requests: [{ type: 'ExternalAuth', externalAuth }] } };
    const set = objectOf('ListenerSet', 'v1', { parentRef: { name: 'front' }, listeners: [listener] });
    expect([gatewayWith(listener), set].map((owner) => consequences(headerNameNotToken, owner))).toEqual(
      Array.from({ length: 2 }, () => Array.from({ length: 3 }, () => 'Accepted InvalidListenerFilter listenerFilter')),
    );
  });
});
