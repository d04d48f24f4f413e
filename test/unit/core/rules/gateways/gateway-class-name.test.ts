import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (gatewayClassName: string): unknown => soundGateway({}, { gatewayClassName });

describe('gateway-class-name', () => {
  test.each<[string]>([['sallyport'], ['internal.example.com']])('%j is fine', (value) => {
    expect(remarks('gateway-class-name', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    [
      'Sallyport!',
      [
        'spec.gatewayClassName',
        'Invalid gatewayClassName "Sallyport!": names consist of lower-case letters, digits, "-" and ".". Use a name that "kubectl get gatewayclass" shows.',
      ],
    ],
    [
      'a_b',
      [
        'spec.gatewayClassName',
        'Invalid gatewayClassName "a_b": names consist of lower-case letters, digits, "-" and ".". Use a name that "kubectl get gatewayclass" shows.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('gateway-class-name', object(value))).toEqual(expected);
  });
});
