import { describe, expect, test } from '@jest/globals';
import { objectCell } from '../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../src/core/incremental/index.ts';
import { parseObject } from '../../src/core/resources/parse.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { evaluate, ourClass } from '../support/evaluation.ts';
import { healthyObjects } from '../support/healthy-objects.ts';
import { hostileObjects, type Aim } from '../support/hostile-objects.ts';

// What test/e2e/hostile.e2e.ts does in a cluster, with the evaluation alone, in which no API server refuses anything.

const aim: Aim = { namespaces: ['shop', 'infra'], gateway: 'front' };

/** What the healthy objects of a kernel say and are served by, without counts, which others add to. */
function healthy(kernel: Kernel): unknown {
  const own = [...kernel.emitted(statuses), ...kernel.emitted(configuration)].filter(
    ([key]) => !key.includes('hostile-'),
  );
  return JSON.parse(
    JSON.stringify(
      own.sort(([one], [other]) => (one < other ? -1 : 1)),
      (key, value: unknown) => (key === 'attachedRoutes' || key === 'attachedListenerSets' ? undefined : value),
    ),
  );
}

/** Precedence goes by age. */
function older(json: object): object {
  const { metadata } = json as { readonly metadata: object };
  return { ...json, metadata: { ...metadata, creationTimestamp: '2026-01-01T00:00:00Z' } };
}

function writeOf(text: string, order: number): readonly Write[] {
  const json = JSON.parse(text) as { readonly metadata: object };
  const parsed = parseObject({
    ...json,
    metadata: {
      ...json.metadata,
      generation: 1,
      creationTimestamp: `2027-01-01T00:00:00.${String(order).padStart(6, '0')}Z`,
    },
  });
  if (parsed.type !== 'resource') return [];
  const { kind, namespace, name } = parsed.resource.ref;
  return [write(objectCell, [kind, namespace, name], parsed.resource)];
}

describe('beside hostile objects', () => {
  test.each([1, 2])('healthy ones stay as they are, and nothing remains of the hostile ones (seed %d)', (seed) => {
    const { kernel } = evaluate([ourClass, ...healthyObjects(aim, { address: '10.0.0.1', port: 8000 })].map(older));
    const before = healthy(kernel);
    const whole = JSON.stringify([...kernel.emitted(statuses)]);
    const writes = hostileObjects(seed, 1_000, aim).flatMap(({ text }, order) => writeOf(text, order));
    for (const one of writes) kernel.apply([one]);
    expect(kernel.emitted(statuses).size).toBeGreaterThan(100);
    expect(healthy(kernel)).toEqual(before);
    for (const { input, args } of writes.toReversed()) kernel.apply([write(input, args, undefined)]);
    expect(JSON.stringify([...kernel.emitted(statuses)])).toBe(whole);
  });
});
