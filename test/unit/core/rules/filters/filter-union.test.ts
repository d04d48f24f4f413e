import { describe, expect, test } from '@jest/globals';
import { filterUnion } from '../../../../../src/core/rules/filters/filter-union.ts';
import {
  consequences,
  gatewayWith,
  grpcRouteWith,
  judge,
  objectOf,
  refusals,
  refusingBundles,
  routeWith,
} from '../../../../support/rules.ts';

const members = [
  ['RequestHeaderModifier', 'requestHeaderModifier'],
  ['ResponseHeaderModifier', 'responseHeaderModifier'],
  ['RequestMirror', 'requestMirror'],
  ['RequestRedirect', 'requestRedirect'],
  ['URLRewrite', 'urlRewrite'],
  ['CORS', 'cors'],
  ['ExternalAuth', 'externalAuth'],
  ['ExtensionRef', 'extensionRef'],
] as const;

describe('filter-union', () => {
  test('a GRPCRoute has filters of its own; others are the concern of another rule', () => {
    expect(
      judge(
        filterUnion,
        grpcRouteWith({ filters: [{ type: 'URLRewrite', urlRewrite: {} }, { type: 'RequestMirror' }] }),
      ),
    ).toEqual([
      [
        'spec.rules[0].filters[1].requestMirror',
        'requestMirror is required with type: RequestMirror. Set requestMirror.',
      ],
    ]);
  });

  test.each(members)('%s with %s is fine', (type, member) => {
    expect(judge(filterUnion, routeWith({ filters: [{ type, [member]: {} }] }))).toEqual([]);
  });

  test.each(members)('%s without %s', (type, member) => {
    expect(judge(filterUnion, routeWith({ filters: [{ type }] }))).toEqual([
      [`spec.rules[0].filters[0].${member}`, `${member} is required with type: ${type}. Set ${member}.`],
    ]);
  });

  test('another member instead', () => {
    const route = routeWith({ backendRefs: [{ name: 'a', filters: [{ type: 'URLRewrite', requestRedirect: {} }] }] });
    expect(judge(filterUnion, route)).toEqual([
      [
        'spec.rules[0].backendRefs[0].filters[0].type',
        'requestRedirect conflicts with type URLRewrite. Use type: RequestRedirect, or replace requestRedirect with urlRewrite.',
      ],
    ]);
    expect(consequences(filterUnion, route)).toEqual(['Accepted UnsupportedValue backendRef']);
  });

  test('other members, too', () => {
    const route = routeWith({ filters: [{ type: 'CORS', cors: {}, urlRewrite: {}, extensionRef: {} }] });
    expect(judge(filterUnion, route)).toEqual([
      [
        'spec.rules[0].filters[0].urlRewrite',
        'urlRewrite is not allowed with type: CORS. Remove urlRewrite, or use type: URLRewrite.',
      ],
      [
        'spec.rules[0].filters[0].extensionRef',
        'extensionRef is not allowed with type: CORS. Remove extensionRef, or use type: ExtensionRef.',
      ],
    ]);
    expect(consequences(filterUnion, route)).toEqual([
      'Accepted UnsupportedValue rule',
      'Accepted UnsupportedValue rule',
    ]);
  });

  test.each([
    ['requestRedirect', 'RequestRedirect'],
    ['urlRewrite', 'URLRewrite'],
  ])('path modifiers of %s', (member, type) => {
    const withPath = (path: unknown) => routeWith({ filters: [{ type, [member]: { path } }] });
    const at = `spec.rules[0].filters[0].${member}.path`;
    expect(judge(filterUnion, withPath({ type: 'ReplaceFullPath', replaceFullPath: '' }))).toEqual([]);
    expect(judge(filterUnion, withPath({ type: 'ReplacePrefixMatch', replacePrefixMatch: '/a' }))).toEqual([]);
    expect(judge(filterUnion, withPath({ type: 'ReplaceFullPath' }))).toEqual([
      [`${at}.replaceFullPath`, 'replaceFullPath is required with type: ReplaceFullPath. Set replaceFullPath.'],
    ]);
    expect(judge(filterUnion, withPath({ type: 'ReplaceFullPath', replacePrefixMatch: '/' }))).toEqual([
      [
        `${at}.type`,
        'replacePrefixMatch conflicts with type ReplaceFullPath. Use type: ReplacePrefixMatch, or replace replacePrefixMatch with replaceFullPath.',
      ],
    ]);
    expect(
      judge(filterUnion, withPath({ type: 'ReplaceFullPath', replaceFullPath: '/', replacePrefixMatch: '/' })),
    ).toEqual([
      [
        `${at}.replacePrefixMatch`,
        'replacePrefixMatch is not allowed with type: ReplaceFullPath. Remove replacePrefixMatch, or use type: ReplacePrefixMatch.',
      ],
    ]);
  });

  test('filters of listeners', () => {
    const gateway = gatewayWith({ name: 'a', filters: { requests: [{ type: 'ExternalAuth', extensionRef: {} }] } });
    expect(judge(filterUnion, gateway).map(([path]) => path)).toEqual(['spec.listeners[0].filters.requests[0].type']);
    expect(consequences(filterUnion, gateway)).toEqual(['Accepted InvalidListenerFilter listenerFilter']);
  });

  test('leaves unknown types and unreadable members to others', () => {
    expect(
      judge(
        filterUnion,
        routeWith({ filters: [{ type: 'Other', cors: {} }, { cors: {} }, { type: 'CORS', cors: [] }] }),
      ),
    ).toEqual([]);
  });
});

describe('bundles on unions of filters', () => {
  test('kinds that are not evaluated are asked the same', () => {
    expect(
      refusals(
        'filter-union',
        objectOf('ListenerSet', 'v1', { listeners: [{ filters: { requests: [{ type: 'ExtensionRef' }] } }] }),
      ),
    ).toEqual([
      [
        'spec.listeners[0].filters.requests[0].extensionRef',
        'extensionRef is required with type: ExtensionRef. Set extensionRef.',
      ],
    ]);
  });

  test('a member is asked for since there is such a type', () => {
    expect(refusingBundles('filter-union', routeWith({ filters: [{ type: 'CORS' }] }))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
    expect(
      refusingBundles('filter-union', routeWith({ filters: [{ type: 'URLRewrite', urlRewrite: {}, cors: {} }] })),
    ).toEqual(['standard 1.5–1.7', 'experimental 1.3–1.7']);
    expect(
      refusingBundles(
        'filter-union',
        routeWith({ filters: [{ type: 'URLRewrite', urlRewrite: {}, externalAuth: {} }] }),
      ),
    ).toEqual(['experimental 1.4–1.7']);
  });
});
