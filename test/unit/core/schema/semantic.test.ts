import { describe, expect, test } from '@jest/globals';
import { formatPath } from '../../../../src/core/resources/path.ts';
import { readView, tables, visitSemantic, type KindName, type Semantic } from '../../../../src/core/schema/index.ts';

function found(kind: KindName, json: unknown, semantic: Semantic): readonly (readonly [string, unknown])[] {
  const { view } = readView(tables[kind].body, json);
  const all: [string, unknown][] = [];
  visitSemantic(kind, view, semantic, ({ path }, value) => all.push([formatPath(path), value]));
  return all;
}

const modifier = { set: [{ name: 'a', value: 'v' }], remove: ['b', 'c'] };
const route = {
  spec: {
    hostnames: ['a.example', '*.b.example'],
    rules: [
      {
        name: 'first',
        timeouts: { request: '10s', backendRequest: '1s' },
        retry: { backoff: '1s' },
        matches: [
          {
            path: { type: 'RegularExpression', value: '/x' },
            headers: [{ name: 'h', value: '1' }],
            queryParams: [{ name: 'q', value: '2' }],
          },
        ],
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: modifier },
          {
            type: 'URLRewrite',
            urlRewrite: { hostname: 'c.example', path: { type: 'ReplaceFullPath', replaceFullPath: '/new' } },
          },
        ],
        backendRefs: [{ name: 's', filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: modifier }] }],
      },
    ],
  },
};

describe('visitSemantic', () => {
  test('finds durations wherever they are', () => {
    expect(found('HTTPRoute', route, 'duration')).toEqual([
      ['spec.rules[0].retry.backoff', '1s'],
      ['spec.rules[0].timeouts.backendRequest', '1s'],
      ['spec.rules[0].timeouts.request', '10s'],
    ]);
  });

  test('tells hostnames from those without wildcard', () => {
    expect(found('HTTPRoute', route, 'hostname')).toEqual([
      ['spec.hostnames[0]', 'a.example'],
      ['spec.hostnames[1]', '*.b.example'],
    ]);
    expect(found('HTTPRoute', route, 'preciseHostname')).toEqual([
      ['spec.rules[0].filters[1].urlRewrite.hostname', 'c.example'],
    ]);
    expect(found('Gateway', { spec: { listeners: [{}, { hostname: 'x.example' }] } }, 'hostname')).toEqual([
      ['spec.listeners[1].hostname', 'x.example'],
    ]);
  });

  test('finds whole header modifiers at rules and at backends', () => {
    expect(found('HTTPRoute', route, 'headerModifier')).toEqual([
      ['spec.rules[0].backendRefs[0].filters[0].responseHeaderModifier', modifier],
      ['spec.rules[0].filters[0].requestHeaderModifier', modifier],
    ]);
    expect(found('HTTPRoute', route, 'headerNameList')).toEqual([
      ['spec.rules[0].backendRefs[0].filters[0].responseHeaderModifier.remove', ['b', 'c']],
      ['spec.rules[0].filters[0].requestHeaderModifier.remove', ['b', 'c']],
    ]);
  });

  test('one value may mean several things', () => {
    expect(found('HTTPRoute', route, 'pathValue')).toEqual([['spec.rules[0].matches[0].path.value', '/x']]);
    expect(found('HTTPRoute', route, 'queryValue')).toEqual([['spec.rules[0].matches[0].queryParams[0].value', '2']]);
    expect(found('HTTPRoute', route, 'regexOrValue').map(([, value]) => value)).toEqual(['1', '/x', '2']);
  });

  test('shows the object that a value stands in, for the sake of its type', () => {
    const { view } = readView(tables.HTTPRoute.body, route);
    const types: unknown[] = [];
    visitSemantic('HTTPRoute', view, 'regexOrValue', (_path, _value, parent) =>
      types.push((parent as { type?: string }).type),
    );
    expect(types).toEqual([undefined, 'RegularExpression', undefined]);
  });

  test('finds label selectors', () => {
    const selector = { matchLabels: { a: 'b' } };
    const json = { spec: { listeners: [{ allowedRoutes: { namespaces: { from: 'Selector', selector } } }] } };
    expect(found('Gateway', json, 'labelSelector')).toEqual([
      ['spec.listeners[0].allowedRoutes.namespaces.selector', selector],
    ]);
  });

  test('leaves out what could not be read, and keeps the places of the rest', () => {
    expect(found('HTTPRoute', { spec: { hostnames: [5, 'a.example'] } }, 'hostname')).toEqual([
      ['spec.hostnames[1]', 'a.example'],
    ]);
  });

  test('finds nothing where a kind has no such meaning', () => {
    expect(found('ConfigMap', { data: { request: '10s' } }, 'duration')).toEqual([]);
  });
});
