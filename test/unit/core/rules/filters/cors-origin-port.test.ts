import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('cors-origin-port', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['https://shop.example.com:8443'] } }] }],
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['*'] } }] }],
    [{ filters: [{ type: 'CORS', cors: { allowOrigins: ['https://a.example', 'https://a.example:65535'] } }] }],
  ])('%j is fine', (value) => {
    expect(remarks('cors-origin-port', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'CORS', cors: { allowOrigins: ['https://shop.example.com:84430'] } }] },
      [
        'spec.rules[0].filters[0].cors.allowOrigins[0]',
        'Invalid port 84430 in origin "https://shop.example.com:84430": must be between 1 and 65535. Correct the port, or remove it.',
      ],
    ],
    [
      { filters: [{ type: 'CORS', cors: { allowOrigins: ['https://a.example:0', 'http://*:99999'] } }] },
      [
        'spec.rules[0].filters[0].cors.allowOrigins[0]',
        'Invalid port 0 in origin "https://a.example:0": must be between 1 and 65535. Correct the port, or remove it.',
      ],
      [
        'spec.rules[0].filters[0].cors.allowOrigins[1]',
        'Invalid port 99999 in origin "http://*:99999": must be between 1 and 65535. Correct the port, or remove it.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('cors-origin-port', object(value))).toEqual(expected);
  });
});
