import * as fc from 'fast-check';
import {
  defineEmission,
  defineIndex,
  defineInput,
  defineQuery,
  type Write,
  write,
} from '../../src/core/incremental/declare.ts';
import { createKernel, type Delta, type Kernel, type Statistics } from '../../src/core/incremental/kernel.ts';
import type { Query, Reader } from '../../src/core/incremental/reader.ts';

/** A small world for the kernel: things of three kinds that refer to each other, and what follows from that. */
interface Thing {
  readonly refs: readonly (readonly [kind: string, name: string])[];
  readonly tag: string;
  readonly weight: number;
  /** Nobody reads it, so that changing it must wake nobody beyond the first query. */
  readonly noise: number;
}

const kinds = ['a', 'b', 'c'];
const names = ['x', 'y', '\u0000', 'x\u0000y', '__proto__'];
const tags = ['red', 'blue', ''];

const thing = defineInput<Thing>('thing');
const limit = defineInput<number>('limit');

const view = defineQuery({
  name: 'view',
  stratum: 0,
  compute(read, kind: string, name: string) {
    const found = read.input(thing, kind, name);
    return found === undefined ? undefined : { refs: found.refs, tag: found.tag, heavy: found.weight > 1 };
  },
});

const referrers = defineIndex({
  name: 'referrers',
  stratum: 0,
  over: { input: thing, populations: kinds },
  *entries(read, kind = '', name = '') {
    for (const [target, targetName] of read.query(view, kind, name)?.refs ?? []) {
      yield { bucket: `${target}/${targetName}`, entry: `${kind}/${name}` };
    }
  },
});

/** Several contributors make the same entry here, and one contributor the same entry twice. */
const tagged = defineIndex({
  name: 'tagged',
  stratum: 0,
  over: { input: thing, populations: ['a', 'b'] },
  *entries(read, kind = '', name = '') {
    const seen = read.query(view, kind, name);
    if (seen === undefined) return;
    yield { bucket: seen.tag, entry: kind };
    yield { bucket: seen.tag, entry: seen.heavy ? 'heavy' : kind };
  },
});

const popularity = defineQuery({
  name: 'popularity',
  stratum: 1,
  compute: (read, kind: string, name: string) =>
    Math.min(read.count(referrers, `${kind}/${name}`), read.input(limit, 'of popularity') ?? 2),
});

/** What it reads depends on what it finds. */
const heir = defineQuery({
  name: 'heir',
  stratum: 1,
  compute(read, kind: string, name: string) {
    for (const [target, targetName] of read.query(view, kind, name)?.refs ?? []) {
      if (read.query(view, target, targetName)?.heavy === true) return `${target}/${targetName}`;
    }
    return read.first(referrers, `${kind}/${name}`) ?? 'nobody';
  },
});

const ranked = defineIndex({
  name: 'ranked',
  stratum: 1,
  over: { input: thing, populations: ['b', 'c'] },
  *entries(read, kind = '', name = '') {
    yield { bucket: `rank ${read.query(popularity, kind, name)}`, entry: read.query(heir, kind, name) };
  },
});

const reachable = defineQuery({
  name: 'reachable',
  stratum: 2,
  compute(read, kind: string, name: string, steps: string): readonly string[] {
    const found = new Set([read.first(ranked, `rank ${read.query(popularity, kind, name)}`) ?? '']);
    if (steps !== '') {
      for (const [target, targetName] of read.query(view, kind, name)?.refs ?? []) {
        for (const one of read.query(reachable, target, targetName, steps.slice(1))) found.add(one);
      }
    }
    return [...found].sort();
  },
});

/** Made of inputs only for some things, for others of everything that comes before. */
const nickname = defineQuery({
  name: 'nickname',
  stratum: 2,
  compute(read, kind: string, name: string): string {
    const found = read.input(thing, kind, name);
    if (found === undefined || found.weight === 0) return 'light';
    if (found.weight === 1) return `heir of ${read.query(heir, kind, name)}`;
    const [target, targetName] = found.refs[0] ?? ['a', 'x'];
    return `${read.query(popularity, target, targetName)} ${read.list(ranked, 'rank 1').join()} ${read.first(tagged, found.tag)}`;
  },
});

/** Made of inputs through chains of queries that get longer and shorter. */
const lineage = defineQuery({
  name: 'lineage',
  stratum: 2,
  compute(read, kind: string, name: string, steps: string): string {
    const seen = read.query(view, kind, name);
    const [target, targetName] = seen?.refs[0] ?? [];
    if (seen === undefined || steps === '' || target === undefined || targetName === undefined)
      return seen?.tag ?? 'nobody';
    const [next, rest] = [seen.heavy ? targetName : 'x', steps.slice(1)];
    return seen.tag === ''
      ? read.query(lineage, target, next, rest)
      : `${seen.tag} ${read.query(lineage, target, next, rest).slice(0, 3)}`;
  },
});

const reached = defineIndex({
  name: 'reached',
  stratum: 2,
  over: { input: thing, populations: ['a', 'c'] },
  *entries(read, kind = '', name = '') {
    for (const bucket of read.query(reachable, kind, name, '..')) yield { bucket, entry: `${kind}/${name}` };
  },
});

const summary = defineEmission({
  name: 'summary',
  stratum: 3,
  over: { input: thing, populations: kinds },
  *emit(read, kind = '', name = '') {
    const tag = read.query(view, kind, name)?.tag ?? '';
    yield {
      key: `${kind}/${name}`,
      value: {
        popularity: read.query(popularity, kind, name),
        heir: read.query(heir, kind, name),
        fellows: read.list(tagged, tag),
        rivals: kind === 'b' ? read.list(ranked, 'rank 0') : [],
        nickname: read.query(nickname, kind, name),
        lineage: read.query(lineage, kind, name, '....'),
        fans: read.count(reached, `${kind}/${name}`),
        isShared: read.several(tagged, tag),
        final: read.last(tagged, tag),
      },
    };
  },
});

/** A key may move from one contributor to another, and a contributor may have no key. */
const firsts = defineEmission({
  name: 'firsts',
  stratum: 3,
  over: { input: thing, populations: kinds },
  *emit(read, kind = '', name = '') {
    const first = read.first(referrers, 'a/x');
    if (first === `${kind}/${name}`) yield { key: 'first to refer to a/x', value: first };
  },
});

/** Queries that the kernel keeps for every present thing. */
export const observed: readonly Query<[string, string], unknown>[] = [view, popularity, heir, nickname];

export function newKernel(): Kernel {
  return createKernel({ indexes: [reached, tagged, ranked, referrers], emissions: [summary, firsts] });
}

export function freshKernel(state: ReadonlyMap<string, Write>): Kernel {
  const kernel = newKernel();
  kernel.apply([...state.values()]);
  return kernel;
}

/** Everything that can be read: the thunks of all reads, so that a test chooses their order. */
export function allReads(read: Reader): readonly (() => unknown)[] {
  const things = kinds.flatMap((kind) => names.map((name) => [kind, name] as const));
  const buckets = [
    ...things.flatMap(([kind, name]) => [
      [referrers, `${kind}/${name}`] as const,
      [reached, `${kind}/${name}`] as const,
    ]),
    ...tags.map((tag) => [tagged, tag] as const),
    ...['rank 0', 'rank 1', 'rank 2', 'rank 3'].map((rank) => [ranked, rank] as const),
  ];
  return [
    ...things.flatMap(([kind, name]) => [
      () => read.input(thing, kind, name),
      () => read.query(view, kind, name),
      () => read.query(popularity, kind, name),
      () => read.query(heir, kind, name),
      () => read.query(nickname, kind, name),
      () => read.query(reachable, kind, name, '..'),
      () => read.query(lineage, kind, name, '....'),
    ]),
    ...buckets.flatMap(([index, bucket]) => [
      () => [...read.list(index, bucket)],
      () => read.count(index, bucket),
      () => read.several(index, bucket),
      () => read.many(index, bucket),
      () => read.first(index, bucket),
      () => read.last(index, bucket),
    ]),
  ];
}

export function readAll(read: Reader): readonly unknown[] {
  return allReads(read).map((one) => one());
}

export function emittedOf(kernel: Kernel): ReadonlyMap<string, unknown> {
  return new Map([...copy(kernel.emitted(summary)), ...copy(kernel.emitted(firsts))]);
}

/** Copies as deep as can be, so that later changes in place would show. */
function copy(content: ReadonlyMap<string, unknown>): Map<string, unknown> {
  return structuredClone(new Map(content));
}

/** What a delta says about both emissions. */
export function changesOf(delta: Delta): {
  readonly upserted: ReadonlyMap<string, unknown>;
  readonly removed: ReadonlySet<string>;
} {
  const [one, other] = [delta.of(summary), delta.of(firsts)];
  return {
    upserted: new Map([...copy(one.upserted), ...copy(other.upserted)]),
    removed: new Set([...one.removed, ...other.removed]),
  };
}

/** How many nodes of each kind there are, without how they came to be. */
export function sizesOf(kernel: Kernel): Omit<Statistics, 'marks' | 'recomputations' | 'cutOffs'> {
  const { nodes, cells, queries, contributors, buckets } = kernel.statistics();
  return { nodes, cells, queries, contributors, buckets };
}

/** The cells that are present after `batches`, by a key of the test's own. */
export function finalState(batches: readonly (readonly Write[])[]): Map<string, Write> {
  const state = new Map<string, Write>();
  for (const one of batches.flat()) {
    if (one.value === undefined) state.delete(cellName(one));
    else state.set(cellName(one), one);
  }
  return state;
}

export function cellName({ input, args }: Write): string {
  return JSON.stringify([input.name, ...args]);
}

const ref = fc.tuple(fc.constantFrom(...kinds), fc.constantFrom(...names));

const thingArbitrary: fc.Arbitrary<Thing> = fc.record({
  refs: fc.array(ref, { maxLength: 3 }),
  tag: fc.constantFrom(...tags),
  weight: fc.nat(3),
  noise: fc.nat(5),
});

const thingWrite = fc
  .tuple(ref, fc.option(thingArbitrary, { nil: undefined, freq: 3 }))
  .map(([args, value]) => write(thing, args, value));

const limitWrite = fc.option(fc.nat(3), { nil: undefined }).map((value) => write(limit, ['of popularity'], value));

export const anyWrite: fc.Arbitrary<Write> = fc.oneof(
  { weight: 9, arbitrary: thingWrite },
  { weight: 1, arbitrary: limitWrite },
);
export const anyBatch: fc.Arbitrary<readonly Write[]> = fc.array(anyWrite, { maxLength: 6 });
export const anyBatches: fc.Arbitrary<readonly (readonly Write[])[]> = fc.array(anyBatch, { maxLength: 12 });

export function removalOf({ input, args }: Write): Write {
  return { input, args, value: undefined };
}

/** The same write with a value that is equal but not identical. */
export function copyOf({ input, args, value }: Write): Write {
  return { input, args, value: structuredClone(value) };
}
