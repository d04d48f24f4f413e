import { describe, expect, test } from '@jest/globals';
import type { Bundle } from '../../../../src/core/schema/availability.ts';
import { experimental } from '../../../../src/core/schema/availability.ts';
import { list, map, object, string } from '../../../../src/core/schema/node.ts';
import { judgedItems } from '../../../../src/core/schema/limits.ts';
import { settle } from '../../../../src/core/schema/settle.ts';
import { runToEnd } from '../../../../src/core/text/steps.ts';

const standard: Bundle = { minor: '1.7', channel: 'standard' };
const table = object({
  short: list(string(), { maxItems: 2 }),
  long: list(string()),
  labels: map(string(), { maxProperties: 1 }),
  named: list(object({ name: string() }), { listType: 'map', keys: ['name'], maxItems: 8 }),
  extra: experimental('1.4', string()),
});

const subject = { body: table, bundle: standard, existsIn: () => true };

describe('settle', () => {
  test('leaves one item more than allowed, so that the excess still shows', () => {
    const json = { short: ['a', 'b', 'c', 'd'], labels: { a: '1', b: '2', c: '3' } };
    expect(runToEnd(settle(subject, json)).value).toEqual({ short: ['a', 'b', 'c'], labels: { a: '1', b: '2' } });
    expect(json.short).toHaveLength(4);
  });

  test('ends lists without a limit of their own as well', () => {
    const { value, errors } = runToEnd(settle(subject, { long: Array.from({ length: judgedItems + 5 }, () => 'a') }));
    expect(value).toHaveProperty('long.length', judgedItems + 1);
    expect(errors).toHaveLength(1);
  });

  test('drops what the bundle does not know and keeps what has the wrong type', () => {
    expect(runToEnd(settle(subject, { short: 'a', extra: 'b', unknown: 1 })).value).toEqual({ short: 'a' });
    expect(runToEnd(settle(subject, 5)).value).toBe(5);
  });

  test('compares items by their keys, but none beside one that is no object', () => {
    const twins = [{ name: 'shop' }, { name: 'shop' }];
    expect(runToEnd(settle(subject, { named: twins })).errors.map(({ path }) => path)).toEqual([['named', 1]]);
    expect(runToEnd(settle(subject, { named: [1.5, ...twins] })).errors).toEqual([]);
  });

  test('settles the lists in spec in steps of a hundred items and objects, with the outcome that one step has', () => {
    const items = object({ name: string(), short: string({ default: 'b' }) });
    const body = object({ spec: object({ rules: list(items, { listType: 'map', keys: ['name'], maxItems: 500 }) }) });
    const rules = [{ name: 'a' }, { name: 'b', short: 'c', more: 1 }, 7, { name: null }];
    const settled = [{ name: 'a', short: 'b' }, { name: 'b', short: 'c' }, 7, { short: 'b' }];
    const unknown = [{ path: ['spec', 'rules', 1, 'more'] }];
    const inSteps = (more: readonly object[]) => {
      const steps = settle({ ...subject, body }, { spec: { rules: [...rules, ...more] } });
      let count = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) count += 1;
      return { count, settled: step.value };
    };
    expect(inSteps([])).toMatchObject({ count: 0, settled: { value: { spec: { rules: settled } }, unknown } });
    // 400 items, all but one of which are objects.
    const more = Array.from({ length: 396 }, (_, number) => ({ name: `rule-${number}`, short: 'd' }));
    const { count, settled: all } = inSteps(more);
    expect(count).toBe(7);
    expect(all).toMatchObject({ value: { spec: { rules: [...settled, ...more] } }, unknown });
  });
});
