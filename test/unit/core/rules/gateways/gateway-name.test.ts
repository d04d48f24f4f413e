import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (name: string): unknown => ({ ...(soundGateway() as object), metadata: { name, namespace: 'shop' } });

describe('gateway-name', () => {
  test.each<[string]>([['front'], ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa']])(
    '%j is fine',
    (value) => {
      expect(remarks('gateway-name', object(value))).toEqual([]);
    },
  );

  test.each<[string, ...[path: string, message: string][]]>([
    [
      'front.example.com',
      [
        'metadata.name',
        'Name "front.example.com" is not portable: it is not a DNS label, so some implementations cannot use it in the name of a Service or in a label. Use at most 63 lower-case letters, digits and "-", and start with a letter.',
      ],
    ],
    [
      '1front',
      [
        'metadata.name',
        'Name "1front" is not portable: it is not a DNS label, so some implementations cannot use it in the name of a Service or in a label. Use at most 63 lower-case letters, digits and "-", and start with a letter.',
      ],
    ],
    [
      'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
      [
        'metadata.name',
        'Name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" is not portable: it has 64 characters, so some implementations cannot use it in the name of a Service or in a label. Use at most 63 lower-case letters, digits and "-", and start with a letter.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('gateway-name', object(value))).toEqual(expected);
  });
});
