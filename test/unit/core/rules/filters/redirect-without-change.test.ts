import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('redirect-without-change', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }], backendRefs: [] }],
    [
      {
        filters: [
          { type: 'RequestRedirect', requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: '/' } } },
        ],
        backendRefs: [],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('redirect-without-change', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 301 } }], backendRefs: [] },
      [
        'spec.rules[0].filters[0].requestRedirect',
        'The redirect points to the requested URL, which can cause a redirect loop. Set scheme, hostname, port or path.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('redirect-without-change', object(value))).toEqual(expected);
  });
});
