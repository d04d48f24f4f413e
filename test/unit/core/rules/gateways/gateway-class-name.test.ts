import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (gatewayClassName: string): unknown => soundGateway({}, { gatewayClassName });

describe('gateway-class-name', () => {
  test.each<[string]>([
    ['sallyport'],
    ['internal.example.com'],
  ])('%j is fine', (value) => {
    expect(remarks('gateway-class-name', object(value))).toEqual([]);
  });

  test.each<[string, ...[path: string, message: string][]]>([
    ['Sallyport!', [ 'spec.gatewayClassName', 'No GatewayClass can be called "Sallyport!": names are made of lower-case letters, digits, - and dots. Write the name of a GatewayClass as kubectl get gatewayclass shows it.' ]],
    ['a_b', [ 'spec.gatewayClassName', 'No GatewayClass can be called "a_b": names are made of lower-case letters, digits, - and dots. Write the name of a GatewayClass as kubectl get gatewayclass shows it.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('gateway-class-name', object(value))).toEqual(expected);
  });
});
