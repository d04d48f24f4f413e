import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('rule-without-backend', () => {
  test.each<[object]>([
    [{}],
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }], backendRefs: [] }],
    [
      {
        backendRefs: [],
        filters: [{ type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Answer', name: 'a' } }],
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('rule-without-backend', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { backendRefs: [] },
      [
        'spec.rules[0].backendRefs',
        'The rule has no backendRefs, so its requests get an error. Add backendRefs with the name and port of a Service. If they are in a list item of their own, remove the dash before them.',
      ],
    ],
    [
      { backendRefs: [], filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['x-a'] } }] },
      [
        'spec.rules[0].backendRefs',
        'The rule has no backendRefs, so its requests get an error. Add backendRefs with the name and port of a Service. If they are in a list item of their own, remove the dash before them.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('rule-without-backend', object(value))).toEqual(expected);
  });
});
