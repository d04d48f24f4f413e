import { expect, test } from '@jest/globals';
import { servicePort } from '../../../../../src/core/graph/backends/backends.ts';
import { evaluate, serviceWith } from '../../../../support/evaluation.ts';

test('a port that a Service does not have keeps only some of its ports: thousands of references may name others', () => {
  const ports = Array.from({ length: 1_000 }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
  const { kernel } = evaluate([serviceWith({ ports })]);
  expect(kernel.read.query(servicePort, 'Service', 'shop', 'cart', '9000')).toEqual({
    type: 'portAbsent',
    ports: [1, 2, 3, 4, 5],
    count: 1_000,
  });
});
