import { describe, expect, test } from '@jest/globals';
import { grpcRouteWith, remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);
const bundle = { minor: '1.7', channel: 'standard' } as const;

describe('header-value-charset', () => {
  test.each<[object]>([
    [
      {
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-team', value: 'K%C3%A4se' }] } },
        ],
      },
    ],
    [
      {
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-team', value: 'one two' }] } },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('header-value-charset', object(value), bundle)).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      {
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-team', value: 'Käse' }] } },
        ],
      },
      [
        'spec.rules[0].filters[0].requestHeaderModifier.set[0].value',
        'Header value "Käse" is not portable: it contains "ä", which is not printable ASCII. The experimental channel rejects it. Encode it, for example in base64.',
      ],
    ],
    [
      {
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: { add: [{ name: 'x-team', value: ' shop  one ' }] } },
        ],
      },
      [
        'spec.rules[0].filters[0].requestHeaderModifier.add[0].value',
        'Header value " shop  one " is not portable: it has leading, trailing or repeated spaces. The experimental channel rejects it. Use "shop one".',
      ],
    ],
    [
      { matches: [{ headers: [{ name: 'x-team', value: 'a ' }] }] },
      [
        'spec.rules[0].matches[0].headers[0].value',
        'Header value "a " is not portable: it has leading, trailing or repeated spaces. The experimental channel rejects it. Use "a".',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('header-value-charset', object(value), bundle)).toEqual(expected);
  });

  test('in a filter of a GRPCRoute, but not in what it matches', () => {
    const odd = [{ name: 'x-team', value: 'Käse' }];
    const route = grpcRouteWith({
      matches: [{ headers: odd }],
      filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { add: odd } }],
    });
    expect(remarks('header-value-charset', route, bundle).map(([path]) => path)).toEqual([
      'spec.rules[0].filters[0].responseHeaderModifier.add[0].value',
    ]);
    expect(remarks('header-value-charset', route)).toEqual([]);
  });
});
