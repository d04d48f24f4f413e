import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-code-unusual', () => {
  test.each<[object]>([[{ retry: { codes: [502, 503] } }], [{ retry: {} }]])('%j is fine', (value) => {
    expect(remarks('retry-code-unusual', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { retry: { codes: [404] } },
      [
        'spec.rules[0].retry.codes[0]',
        'Retry code 404 is about the request itself, and the retry sends the same request. Use 500, 502, 503 or 504, or remove it.',
      ],
    ],
    [
      { retry: { codes: [503, 505] } },
      [
        'spec.rules[0].retry.codes[1]',
        'Retry code 505 is one that implementations are not required to support. Use 500, 502, 503 or 504, or remove it.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-code-unusual', object(value))).toEqual(expected);
  });
});
