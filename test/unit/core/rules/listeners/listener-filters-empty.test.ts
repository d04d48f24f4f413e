import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (listener: object): unknown => soundGateway(listener);

describe('listener-filters-empty', () => {
  test.each<[object]>([
    [
      {
        filters: {
          requests: [{ type: 'ExtensionRef', extensionRef: { group: 'example.com', kind: 'Login', name: 'users' } }],
        },
      },
    ],
  ])('%j is fine', (value) => {
    expect(remarks('listener-filters-empty', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: {} },
      [
        'spec.listeners[0].filters.requests',
        'filters is empty, so every request passes unchecked. Set requests with at least one filter, or remove filters.',
      ],
    ],
    [
      { filters: { requests: [] } },
      [
        'spec.listeners[0].filters.requests',
        'filters is empty, so every request passes unchecked. Set requests with at least one filter, or remove filters.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('listener-filters-empty', object(value))).toEqual(expected);
  });
});
