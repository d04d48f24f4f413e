import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (maxSize: number): unknown =>
  soundRoute({
    filters: [
      {
        type: 'ExternalAuth',
        externalAuth: { protocol: 'HTTP', http: {}, backendRef: { name: 'auth', port: 80 }, forwardBody: { maxSize } },
      },
    ],
  });
const bundle = { minor: '1.6', channel: 'experimental' } as const;

describe('forward-body-size', () => {
  test.each<[number]>([[65535], [0]])('%j is fine', (value) => {
    expect(remarks('forward-body-size', object(value), bundle)).toEqual([]);
  });

  test.each<[number, ...[path: string, message: string][]]>([
    [
      100000,
      [
        'spec.rules[0].filters[0].externalAuth.forwardBody.maxSize',
        'Invalid maxSize 100000: must be between 0 and 65535. Clients of this release fail to read lists that contain other values.',
      ],
    ],
    [
      -1,
      [
        'spec.rules[0].filters[0].externalAuth.forwardBody.maxSize',
        'Invalid maxSize -1: must be between 0 and 65535. Clients of this release fail to read lists that contain other values.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('forward-body-size', object(value), bundle)).toEqual(expected);
  });
});
