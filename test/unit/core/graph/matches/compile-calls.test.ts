import { describe, expect, test } from '@jest/globals';
import { compileCalls } from '../../../../../src/core/graph/matches/compile-calls.ts';
import { RouteTable } from '../../../../../src/core/routing/table.ts';
import { routeConfig, routeRequest } from '../../../../support/routes.ts';

const never = () => false;
const compiled = (method: object) => compileCalls([{ method }], never)[0];

describe('calls of a GRPCRoute as the data plane takes them', () => {
  test.each<[object, object, object]>([
    [
      { service: 'shop.v1.Cart', method: 'Add' },
      { type: 'Exact', value: '/shop.v1.Cart/Add' },
      { service: 12, method: 3 },
    ],
    [{ service: 'shop.v1.Cart' }, { type: 'PathPrefix', value: '/shop.v1.Cart' }, { service: 12, method: 0 }],
    [
      { service: '', method: 'Add' },
      { type: 'RegularExpression', value: '/(?:[^/]+)/(?:Add)' },
      { service: 0, method: 3 },
    ],
    [
      { method: 'A.*' },
      { type: 'RegularExpression', value: String.raw`/(?:[^/]+)/(?:A\.\*)` },
      { service: 0, method: 3 },
    ],
    [
      { type: 'RegularExpression', service: String.raw`shop\..*`, method: 'Add|Get' },
      { type: 'RegularExpression', value: String.raw`/(?:shop\..*)/(?:Add|Get)` },
      { service: 8, method: 7 },
    ],
    [
      { type: 'RegularExpression', service: 'a|b' },
      { type: 'RegularExpression', value: '/(?:a|b)/(?:[^/]+)' },
      { service: 3, method: 0 },
    ],
  ])('%j', (method, path, call) => {
    expect(compiled(method)).toEqual({ index: 0, path, headers: [], query: [], call });
  });

  test('without matches every call matches', () => {
    const everything = [
      { index: 0, path: { type: 'PathPrefix', value: '/' }, headers: [], query: [], call: { service: 0, method: 0 } },
    ];
    expect(compileCalls(undefined, never)).toEqual(everything);
    expect(compileCalls([], never)).toEqual(everything);
    expect(compileCalls([{}], never)).toEqual(everything);
  });

  test('headers are as those of an HTTPRoute; invalid matches are left out, the others keep their position', () => {
    const matches = [
      {
        headers: [
          { name: 'X-Team', value: 'a' },
          { name: 'x-team', value: 'b' },
        ],
      },
      { method: { service: 'a' } },
    ];
    expect(compileCalls(matches, (index) => index === 1).map(({ index, headers }) => [index, headers])).toEqual([
      [0, [{ name: 'x-team', type: 'Exact', value: 'a' }]],
    ]);
  });
});

describe('which call goes where', () => {
  const calls = [
    { service: 'shop.Cart', method: 'Add' },
    { service: 'shop.Cart' },
    { method: 'Add' },
    { type: 'RegularExpression', service: 'shop.*' },
  ];
  const table = new RouteTable();
  table.upsert({
    ...routeConfig('a/calls', {
      rules: [
        {
          index: 0,
          matches: compileCalls([{}, ...calls.map((method) => ({ method }))], never),
          filters: [],
          backends: [],
        },
      ],
    }),
    key: 'route/GRPCRoute/a/calls',
    protocol: 'grpc',
  });
  table.upsert(routeConfig('a/pages'));

  test.each([
    ['/shop.Cart/Add', 'a/calls 1'],
    ['/shop.Cart/Get', 'a/calls 2'],
    ['/other.Cart/Add', 'a/calls 3'],
    ['/shop.Stock/Get', 'a/calls 4'],
    ['/shop.Stock/Add', 'a/calls 4'],
    ['/other.Stock/Get', 'a/calls 0'],
  ])('%s goes to %s', (path, expected) => {
    const request = (contentType: string) =>
      table.match('web', routeRequest(`http://h${path}`, { method: 'POST', headers: { 'content-type': contentType } }));
    const found = request('application/grpc');
    expect(`${found?.route.route} ${found?.match.index}`).toBe(expected);
    expect(request('application/json')?.route.route).toBe('a/pages');
  });
});
