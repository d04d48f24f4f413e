import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('filter-without-effect', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-debug'] } }] }],
    [
      {
        backendRefs: [],
        filters: [
          { type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['a'] } },
          { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } },
        ],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('filter-without-effect', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: {} }] },
      [
        'spec.rules[0].filters[0].requestHeaderModifier',
        'The filter has no effect: requestHeaderModifier does not set, add or remove any header. Use set, add or remove, or remove the filter.',
      ],
    ],
    [
      { filters: [{ type: 'URLRewrite', urlRewrite: {} }] },
      [
        'spec.rules[0].filters[0].urlRewrite',
        'The filter has no effect: urlRewrite has neither hostname nor path. Set one of them, or remove the filter.',
      ],
    ],
    [
      { filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { set: [] } }] },
      [
        'spec.rules[0].filters[0].responseHeaderModifier',
        'The filter has no effect: responseHeaderModifier does not set, add or remove any header. Use set, add or remove, or remove the filter.',
      ],
    ],
    [
      { filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'log', port: 80 }, percent: 0 } }] },
      [
        'spec.rules[0].filters[0].requestMirror',
        'The filter has no effect: requestMirror mirrors 0 percent of requests. Set a greater share, or remove it to mirror all requests, or remove the filter.',
      ],
    ],
    [
      {
        backendRefs: [],
        filters: [
          { type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } },
          { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } },
        ],
      },
      [
        'spec.rules[0].filters[0]',
        'The RequestHeaderModifier filter is ignored: filters[1] redirects every request, so none is forwarded. Remove one of the two.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('filter-without-effect', object(value))).toEqual(expected);
  });
});
