import { describe, expect, test } from '@jest/globals';
import {
  createKernel,
  defineEmission,
  defineIndex,
  defineInput,
  defineQuery,
  type Kernel,
  type Overlay,
  write,
  type Write,
} from '../../../../src/core/incremental/index.ts';

// A hub that many read. Results with only queries between them and the inputs are brought up to date before their
// readers are even marked; see Engine.inputsChanged.

interface Hub {
  readonly colour: string;
  readonly size: number;
  readonly route?: readonly string[];
  readonly comment?: string;
}

const hubs = defineInput<Hub>('hub');
const spokes = defineInput<string>('spoke');
const hub = (value: Hub | undefined): Write => write(hubs, ['h'], value);
const spoke = (name: string): Write => write(spokes, ['spoke', name], 'h');
const start: Hub = { colour: 'red', size: 7 };

const colour = defineQuery({
  name: 'colour',
  stratum: 1,
  compute: (read, name: string) => read.input(hubs, name)?.colour ?? 'none',
});
const size = defineQuery({
  name: 'size',
  stratum: 1,
  compute: (read, name: string) => read.input(hubs, name)?.size ?? 0,
});
/** Two steps above the input. */
const look = defineQuery({
  name: 'look',
  stratum: 1,
  compute: (read, name: string) => `${read.query(colour, name)} ${read.query(size, name) > 5 ? 'big' : 'small'}`,
});
const view = defineQuery({
  name: 'view',
  stratum: 2,
  compute: (read, name: string) => `${name} on ${read.query(look, read.input(spokes, 'spoke', name) ?? '')}`,
});
const first = defineQuery({
  name: 'first',
  stratum: 2,
  compute: (read, name: string) => read.query(view, name).startsWith('s0 '),
});
const bySpoke = defineIndex({
  name: 'bySpoke',
  stratum: 0,
  over: { input: spokes, populations: ['spoke'] },
  entries: (_read, _population, name = '') => [{ bucket: 'all', entry: name }],
});
const byView = defineIndex({
  name: 'byView',
  stratum: 2,
  over: { input: spokes, populations: ['spoke'] },
  entries: (read, _population, name = '') => [{ bucket: read.query(view, name), entry: name }],
});
const emission = defineEmission({
  name: 'views',
  stratum: 3,
  over: { input: spokes, populations: ['spoke'] },
  emit: (read, _population, name = '') => [
    { key: name, value: `${read.query(view, name)}, ${read.query(first, name)}` },
  ],
});

function kernelWith(spokeCount: number): Kernel {
  const kernel = createKernel({ indexes: [bySpoke, byView], emissions: [emission] });
  kernel.apply([hub(start), ...Array.from({ length: spokeCount }, (_, number) => spoke(`s${number}`))]);
  return kernel;
}

function costOf(kernel: Kernel, change: Write): { readonly ran: number; readonly marked: number } {
  const before = kernel.statistics();
  kernel.apply([change]);
  const { recomputations, marks } = kernel.statistics();
  return { ran: recomputations - before.recomputations, marked: marks - before.marks };
}

describe('a change of a hub', () => {
  test.each<[what: string, value: Hub, ran: number]>([
    ['ends one step above the inputs', { ...start, comment: 'new' }, 2],
    ['ends two steps above the inputs', { ...start, size: 9 }, 3],
  ])('that %s marks nothing', (_, value, ran) => {
    expect(costOf(kernelWith(50), hub(value))).toEqual({ ran, marked: 0 });
  });

  test('that really changes all marks only those whose results changed', () => {
    // Of each spoke: view, first, one entry of an index and one emission run; the last two are marked, as they are not queries.
    expect(costOf(kernelWith(50), hub({ ...start, colour: 'blue' }))).toEqual({ ran: 3 + 4 * 50, marked: 2 * 50 });
  });

  test('runs nothing twice, whatever the number of ways to it', () => {
    const kernel = kernelWith(1);
    expect(costOf(kernel, hub({ colour: 'blue', size: 1 })).ran).toBe(3 + 4);
    expect(kernel.emitted(emission).get('s0')).toBe('s0 on blue small, true');
  });

  test('runs nothing that nobody keeps', () => {
    const kernel = kernelWith(1);
    expect(kernel.read.query(look, 'other')).toBe('none small');
    expect(costOf(kernel, write(hubs, ['other'], start))).toEqual({ ran: 0, marked: 0 });
  });
});

test('a hub reaches each of its readers, however many come and go', () => {
  const kernel = kernelWith(0);
  const names = Array.from({ length: 40 }, (_, number) => `s${number}`);
  const present = new Set<string>();
  const colours = ['red', 'blue'];
  const step = (change: Write): void => {
    kernel.apply([change]);
    colours.reverse();
    kernel.apply([hub({ ...start, colour: colours[0] ?? '' })]);
    const values = [...present].map((name) => [name, `${name} on ${colours[0]} big, ${name === 's0'}`]);
    expect(Object.fromEntries(kernel.emitted(emission))).toEqual(Object.fromEntries(values));
  };
  for (const name of names) step((present.add(name), spoke(name)));
  for (const name of names) step((present.delete(name), write(spokes, ['spoke', name], undefined)));
  kernel.apply([hub(undefined)]);
  expect(kernel.statistics().nodes).toBe(0);
});

describe('a result that comes to read more than before', () => {
  const forks = defineInput<string>('fork');
  const fork = (name: string, value: string): Write => write(forks, ['fork', name], value);
  /** Follows names up to a number. */
  const follow = defineQuery({
    name: 'follow',
    stratum: 1,
    compute: (read, name: string): number => {
      const next = read.input(forks, 'fork', name) ?? '0';
      return /^\d+$/.test(next) ? Number(next) : Math.floor(read.query(follow, next) / 10) * 10;
    },
  });
  const ends = defineEmission({
    name: 'ends',
    stratum: 1,
    over: { input: forks, populations: ['fork'] },
    emit: (read, _population, name = '') => [{ key: name, value: read.query(follow, name) }],
  });
  const kernelOf = (...writes: readonly Write[]): Kernel => {
    const kernel = createKernel({ indexes: [], emissions: [ends] });
    kernel.apply(writes);
    return kernel;
  };

  test('is right although that was not settled yet', () => {
    const kernel = kernelOf(fork('a', '5'), fork('b', 'c'), fork('c', 'd'), fork('d', '50'), fork('e', 'a'));
    kernel.apply([fork('a', 'b'), fork('d', '90')]);
    expect(Object.fromEntries(kernel.emitted(ends))).toEqual({ a: 90, b: 90, c: 90, d: 90, e: 90 });
  });

  test('is right when its readers were not run again for it', () => {
    const kernel = kernelOf(fork('a', '50'), fork('b', 'a'), fork('c', 'd'), fork('d', 'e'), fork('e', '51'));
    // Now a lies higher than b believes, since a and with it b stayed as they were.
    kernel.apply([fork('a', 'c')]);
    kernel.apply([fork('e', '52'), fork('b', 'a')]);
    kernel.apply([fork('e', '70')]);
    expect(Object.fromEntries(kernel.emitted(ends))).toEqual({ a: 70, b: 70, c: 70, d: 70, e: 70 });
    kernel.apply([fork('a', '90')]);
    expect(kernel.emitted(ends).get('b')).toBe(90);
  });

  test('closes a cycle that is noticed, even where the result stays equal', () => {
    const kernel = kernelOf(fork('a', '50'), fork('b', 'a'));
    expect(() => kernel.apply([fork('a', 'b')])).toThrow('queries read each other in a cycle');
    kernel.apply([fork('a', '60')]);
    expect(Object.fromEntries(kernel.emitted(ends))).toEqual({ a: 60, b: 60 });
  });
});

describe('on an overlay', () => {
  /** How many steps were asked for, and what was found. */
  function search(overlay: Overlay, budget: number): { readonly steps: number; readonly found: number } {
    let steps = 0;
    const found = [...overlay.affected(view, () => ++steps <= budget)].length;
    return { steps, found };
  }

  test('a change of a hub that changes nothing for its readers is not followed to them', () => {
    const [few, many] = [2, 50].map((spokeCount) =>
      search(kernelWith(spokeCount).overlay([hub({ ...start, size: 9 })]), 1000),
    );
    expect(few?.found).toBe(0);
    expect(many).toEqual(few);
  });

  test('the search ends when it may not go on, whether or not something was found', () => {
    const kernel = kernelWith(50);
    const change = hub({ ...start, colour: 'blue' });
    expect(search(kernel.overlay([change]), 1000).found).toBe(50);
    expect(search(kernel.overlay([change]), 0)).toEqual({ steps: 1, found: 0 });
    const { steps, found } = search(kernel.overlay([change]), 20);
    expect(steps).toBe(21);
    expect(found).toBeGreaterThan(2);
    expect(found).toBeLessThan(20);
  });

  test('a low index is read without looking at what lies above it', () => {
    let ran = 0;
    const counted = defineQuery({
      name: 'counted',
      stratum: 1,
      compute: (read, name: string) => {
        ran += 1;
        return read.input(hubs, name)?.colour;
      },
    });
    const counting = defineEmission({
      name: 'counting',
      stratum: 1,
      over: { input: spokes, populations: ['spoke'] },
      emit: (read, _population, name = '') => [{ key: name, value: read.query(counted, 'h') }],
    });
    const kernel = createKernel({ indexes: [bySpoke], emissions: [counting] });
    kernel.apply([hub(start), spoke('a'), spoke('b')]);
    ran = 0;
    const { read } = kernel.overlay([hub(undefined), write(spokes, ['spoke', 'b'], undefined)]);
    expect(read.list(bySpoke, 'all')).toEqual(['a']);
    expect(ran).toBe(0);
  });
});
