import { describe, expect, test } from '@jest/globals';
import type { Bundle } from '../../../../src/core/schema/index.ts';
import { soughtErrors } from '../../../../src/core/schema/limits.ts';
import { loadValidator } from '../../../../src/core/schema/validators.ts';

const bundle: Bundle = { minor: '1.7', channel: 'experimental' };

function errorsOf(kind: string, spec: unknown): readonly string[] {
  const validator = loadValidator(kind, 'v1', bundle);
  if (validator === undefined) throw new Error(`no validator of ${kind}`);
  expect(validator({ spec })).toBe(false);
  return (validator.errors ?? []).map(({ instancePath }) => instancePath);
}

const times = <T>(count: number, item: T): readonly T[] => Array<T>(count).fill(item);
const rulesOf = (codes: readonly unknown[]) => ({
  rules: times(16, { backendRefs: [{ name: 's', port: 80 }], retry: { codes } }),
});
const gatewayWith = (matchExpressions: readonly unknown[]) => ({
  gatewayClassName: 'c',
  listeners: [
    { name: 'l', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { selector: { matchExpressions } } } },
  ],
});

describe('a validator', () => {
  test('finds all errors of an object with few', () => {
    expect(errorsOf('HTTPRoute', rulesOf(times(50, 7)))).toHaveLength(800);
    expect(errorsOf('Gateway', gatewayWith(times(soughtErrors, { key: 'a', operator: 1 })))).toHaveLength(soughtErrors);
  });

  test('stops to validate items after the maximum of errors', () => {
    expect(errorsOf('HTTPRoute', rulesOf(times(10_000, 7)))).toHaveLength(soughtErrors);
    let read = 0;
    const expression = {
      key: 'a',
      get operator() {
        read += 1;
        return 1;
      },
    };
    expect(errorsOf('Gateway', gatewayWith(times(10_000, expression)))).toHaveLength(soughtErrors);
    const readOfOne = read / soughtErrors;
    expect(readOfOne).toBe(Math.round(readOfOne));
    expect(readOfOne).toBeLessThan(5);
  });

  test('stops to validate entries of maps after the maximum of errors', () => {
    const labels = Object.fromEntries(times(10_000, 7).map((value, index) => [`k${index}`, value]));
    const spec = {
      ...gatewayWith([]),
      listeners: [
        { name: 'l', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { selector: { matchLabels: labels } } } },
      ],
    };
    expect(errorsOf('Gateway', spec)).toHaveLength(soughtErrors);
  });

  test('stops to validate items within items after the maximum of errors', () => {
    const values = times(30, 1);
    const errors = errorsOf('Gateway', gatewayWith(times(10_000, { key: 'a', operator: 'In', values })));
    expect(errors.length).toBeLessThan(soughtErrors + values.length);
    expect(errors.at(-1)).toContain('/matchExpressions/33/');
  });
});
