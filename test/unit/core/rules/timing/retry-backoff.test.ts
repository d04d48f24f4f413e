import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('retry-backoff', () => {
  test.each<[object]>([
    [{ retry: { attempts: 2 } }],
  ])('%j is fine', (value) => {
    expect(remarks('retry-backoff', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ retry: { backoff: '100ms' } }, [ 'spec.rules[0].retry.backoff', 'backoff: 100ms is the basis of a wait that each implementation computes in its own way; one that does not wait refuses the route. Leave it out where the route shall work everywhere.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('retry-backoff', object(value))).toEqual(expected);
  });
});
