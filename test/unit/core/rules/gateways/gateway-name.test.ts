import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (name: string): unknown => ({ ...(soundGateway() as object), metadata: { name, namespace: 'shop' } });

describe('gateway-name', () => {
  test.each<[string]>([
    ['front'],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'],
  ])('%j is fine', (value) => {
    expect(remarks('gateway-name', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    ['front.example.com', [ 'metadata.name', 'The name "front.example.com" is no DNS label, so some implementations cannot name a Service or label after it. Write at most 63 lower-case letters, digits and -, with a letter first.' ]],
    ['1front', [ 'metadata.name', 'The name "1front" is no DNS label, so some implementations cannot name a Service or label after it. Write at most 63 lower-case letters, digits and -, with a letter first.' ]],
    ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', [ 'metadata.name', 'The name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" has 64 characters, so some implementations cannot name a Service or label after it. Write at most 63 lower-case letters, digits and -, with a letter first.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('gateway-name', object(value))).toEqual(expected);
  });
});
