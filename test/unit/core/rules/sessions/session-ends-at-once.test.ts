import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (sessionPersistence: object): unknown => soundRoute({ sessionPersistence });

describe('session-ends-at-once', () => {
  test.each<[object]>([[{ cookie: {}, absoluteTimeout: '1h' }], [{ cookie: {} }]])('%j is fine', (value) => {
    expect(remarks('session-ends-at-once', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { cookie: {}, absoluteTimeout: '0s' },
      [
        'spec.rules[0].sessionPersistence.absoluteTimeout',
        'absoluteTimeout: 0s ends every session immediately. Use the maximum lifetime of a session, for example 1h, or remove it for no limit.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('session-ends-at-once', object(value))).toEqual(expected);
  });
});
