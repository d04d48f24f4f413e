import { describe, expect, test } from '@jest/globals';
import { remarks, soundGateway } from '../../../../support/rules.ts';

const object = (labels: object): unknown => soundGateway({}, { infrastructure: { labels } });

describe('infrastructure-label-reserved', () => {
  test.each<[object]>([[{ 'example.com/team': 'shop' }]])('%j is fine', (value) => {
    expect(remarks('infrastructure-label-reserved', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { 'gateway.networking.k8s.io/gateway-name': 'other' },
      [
        'spec.infrastructure.labels["gateway.networking.k8s.io/gateway-name"]',
        'Label gateway.networking.k8s.io/gateway-name is reserved: implementations set it to find the resources of a Gateway. Remove it, or use a label in a domain of your own.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('infrastructure-label-reserved', object(value))).toEqual(expected);
  });
});
