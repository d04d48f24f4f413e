import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('filter-without-effect', () => {
  test.each<[object]>([
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: [ 'x-debug' ] } } ] }],
    [{ backendRefs: [], filters: [ { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: [ 'a' ] } }, { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('filter-without-effect', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: {} } ] }, [ 'spec.rules[0].filters[0].requestHeaderModifier', 'This filter changes nothing: requestHeaderModifier sets, adds and removes no header. Write set, add or remove, or remove the filter.' ]],
    [{ filters: [ { type: 'URLRewrite', urlRewrite: {} } ] }, [ 'spec.rules[0].filters[0].urlRewrite', 'This filter changes nothing: urlRewrite rewrites neither hostname nor path. Write one of them, or remove the filter.' ]],
    [{ filters: [ { type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [] } } ] }, [ 'spec.rules[0].filters[0].responseHeaderModifier', 'This filter changes nothing: responseHeaderModifier sets, adds and removes no header. Write set, add or remove, or remove the filter.' ]],
    [{ filters: [ { type: 'RequestMirror', requestMirror: { backendRef: { name: 'log', port: 80 }, percent: 0 } } ] }, [ 'spec.rules[0].filters[0].requestMirror', 'This filter changes nothing: requestMirror gets 0 percent of the requests. Write a greater share, or none for all requests, or remove the filter.' ]],
    [{ backendRefs: [], filters: [ { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: [ 'a' ] } }, { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } } ] }, [ 'spec.rules[0].filters[0]', 'filters[1] answers every request by a redirect, so this RequestHeaderModifier acts on requests that go nowhere. Remove one of the two.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('filter-without-effect', object(value))).toEqual(expected);
  });
});
