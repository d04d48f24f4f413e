import { describe, expect, test } from '@jest/globals';
import {
  createKernel,
  defineEmission,
  defineIndex,
  defineInput,
  defineQuery,
  write,
  type Write,
} from '../../../../src/core/incremental/index.ts';
import type { Steps } from '../../../../src/core/text/steps.ts';

const objects = defineInput<string>('objects');
const route = (name: string, parent: string): Write => write(objects, ['Route', name], parent);
const gateway = (name: string, hostname: string): Write => write(objects, ['Gateway', name], hostname);

const hostname = defineQuery({
  name: 'hostname',
  stratum: 0,
  compute: (read, name: string) => read.input(objects, 'Gateway', name),
});

const attached = defineIndex({
  name: 'attached',
  stratum: 1,
  over: { input: objects, populations: ['Route'] },
  *entries(read, kind = '', name = '') {
    const found = read.query(hostname, read.input(objects, kind, name) ?? '');
    if (found !== undefined) yield { bucket: found, entry: name };
  },
});

const hosts = defineEmission<string>({
  name: 'hosts',
  stratum: 2,
  over: { input: objects, populations: ['Route'] },
  *emit(read, kind = '', name = '') {
    const found = read.query(hostname, read.input(objects, kind, name) ?? '');
    if (found !== undefined) yield { key: name, value: `${found} with ${read.count(attached, found)}` };
  },
});

const many = 100;

function withRoutes() {
  const kernel = createKernel({ indexes: [attached], emissions: [hosts] });
  kernel.apply([gateway('g', 'old'), ...Array.from({ length: many }, (_, number) => route(`r${number}`, 'g'))]);
  return kernel;
}

function stepsOf<T>(steps: Steps<T>): { readonly count: number; readonly value: T } {
  for (let count = 1; ; count += 1) {
    const { done, value } = steps.next();
    if (done === true) return { count, value };
  }
}

describe('writes in steps', () => {
  test('do little in each step, however many results they concern', () => {
    const kernel = withRoutes();
    const steps = kernel.applyInSteps([gateway('g', 'new')]);
    let last = kernel.statistics().recomputations;
    for (let result = steps.next(); result.done !== true; result = steps.next()) {
      const { recomputations } = kernel.statistics();
      expect(recomputations - last).toBeLessThanOrEqual(2);
      last = recomputations;
    }
    expect(kernel.emitted(hosts).get('r7')).toBe(`new with ${many}`);
  });

  test('change the content of an emission with the last step', () => {
    const kernel = withRoutes();
    const before = new Map(kernel.emitted(hosts));
    const steps = kernel.applyInSteps([gateway('g', 'new'), write(objects, ['Route', 'r3'], undefined)]);
    let count = 0;
    while (steps.next().done !== true) {
      count += 1;
      if (count < 2 * many) expect(kernel.emitted(hosts)).toEqual(before);
    }
    expect(count).toBeGreaterThanOrEqual(2 * many - 1);
    expect(kernel.emitted(hosts).size).toBe(many - 1);
  });

  test('give the same change as in one go', () => {
    const [one, other] = [withRoutes(), withRoutes()];
    const writes = [gateway('g', 'new'), write(objects, ['Route', 'r3'], undefined)];
    expect(stepsOf(one.applyInSteps(writes)).value.of(hosts)).toEqual(other.apply(writes).of(hosts));
  });

  test('are completed by a read from outside, and report their change to the one who makes the steps', () => {
    const kernel = withRoutes();
    const steps = kernel.applyInSteps([gateway('g', 'new')]);
    steps.next();
    expect(kernel.read.count(attached, 'new')).toBe(many);
    const { count, value } = stepsOf(steps);
    expect(count).toBe(1);
    expect(value.of(hosts).upserted.size).toBe(many);
  });

  test('are completed by an overlay', () => {
    const kernel = withRoutes();
    const steps = kernel.applyInSteps([gateway('g', 'new')]);
    steps.next();
    expect(kernel.overlay([route('more', 'g')]).read.count(attached, 'new')).toBe(many + 1);
    expect(stepsOf(steps).count).toBe(1);
  });

  test('cannot begin while others are being applied', () => {
    const kernel = withRoutes();
    const steps = kernel.applyInSteps([gateway('g', 'new')]);
    steps.next();
    expect(() => kernel.apply([gateway('g', 'other')])).toThrow('while others are being applied');
    stepsOf(steps);
    kernel.apply([gateway('g', 'other')]);
    expect(kernel.emitted(hosts).get('r7')).toBe(`other with ${many}`);
  });
});
