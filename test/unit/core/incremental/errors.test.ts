import { describe, expect, test } from '@jest/globals';
import {
  createKernel,
  defineEmission,
  defineIndex,
  defineInput,
  defineQuery,
  type Kernel,
  type Query,
  type Reader,
  write,
} from '../../../../src/core/incremental/index.ts';

const numbers = defineInput<number>('numbers');
const over = { input: numbers, populations: ['n'] };

function set(name: string, value: number | undefined): ReturnType<typeof write> {
  return write(numbers, ['n', name], value);
}

function emissionOf(query: Query<[string], unknown>): ReturnType<typeof defineEmission> {
  return defineEmission({
    name: 'out',
    stratum: 9,
    over,
    *emit(read, _population, name = '') {
      yield { key: name, value: read.query(query, name) };
    },
  });
}

function queryOf(
  name: string,
  stratum: number,
  compute: (read: Reader, name: string) => unknown,
): Query<[string], unknown> {
  return defineQuery({ name, stratum, compute: (read, argument: string) => compute(read, argument) });
}

describe('the law of strata', () => {
  const low = queryOf('low', 1, () => 'low');
  const index = defineIndex({ name: 'index', stratum: 1, over, entries: () => [{ bucket: 'b', entry: 'e' }] });

  test.each<[string, (read: Reader) => unknown, string]>([
    ['list', (read) => read.list(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    ['count', (read) => read.count(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    ['several', (read) => read.several(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    ['many', (read) => read.many(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    ['first', (read) => read.first(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    ['last', (read) => read.last(index, 'b'), 'index index (stratum 1) is read by same(a) (stratum 1)'],
    [
      'query',
      (read) =>
        read.query(
          queryOf('high', 2, () => 1),
          'x',
        ),
      'query high (stratum 2) is read by same(a) (stratum 1)',
    ],
  ])('forbids reading up: %s', (_, compute, message) => {
    const same = queryOf('same', 1, compute);
    const kernel = createKernel({ indexes: [index], emissions: [] });
    kernel.apply([set('a', 1)]);
    expect(() => kernel.read.query(same, 'a')).toThrow(message);
    expect(() => kernel.overlay([set('b', 1)]).read.query(same, 'a')).toThrow(message);
  });

  test('forbids an index to read itself or its neighbours', () => {
    const self = defineIndex({
      name: 'self',
      stratum: 1,
      over,
      entries: (read) => [{ bucket: 'b', entry: `${read.count(index, 'b')}` }],
    });
    const kernel = createKernel({ indexes: [index, self], emissions: [] });
    expect(() => kernel.apply([set('a', 1)])).toThrow('index index (stratum 1) is read by self(n, a) (stratum 1)');
  });

  test('allows queries of the same stratum and indexes of a lower one', () => {
    const kernel = createKernel({ indexes: [index], emissions: [] });
    kernel.apply([set('a', 1)]);
    expect(
      kernel.read.query(
        queryOf('same', 1, (read) => read.query(low, 'x')),
        'a',
      ),
    ).toBe('low');
    expect(
      kernel.read.query(
        queryOf('above', 2, (read) => read.list(index, 'b')),
        'a',
      ),
    ).toEqual(['e']);
  });

  test('an index that is not part of the kernel is an error', () => {
    const kernel = createKernel({ indexes: [], emissions: [] });
    expect(() => kernel.read.list(index, 'b')).toThrow('index index is not part of this kernel');
    expect(() => kernel.overlay([]).read.list(index, 'b')).toThrow('index index is not part of this kernel');
  });
});

describe('cycles', () => {
  /** Reads in a circle where the number is 0. */
  const one: Query<[string], unknown> = queryOf('one', 0, (read, name) =>
    read.input(numbers, 'n', name) === 0 ? read.query(two, name) : 'one is fine',
  );
  const two = queryOf('two', 0, (read, name) => `two: ${String(read.query(one, name))}`);
  const emission = emissionOf(two);

  test('are errors that name the queries', () => {
    const kernel = createKernel({ indexes: [], emissions: [emission] });
    expect(() => kernel.apply([set('a', 0)])).toThrow('queries read each other in a cycle: two(a) -> one(a) -> two(a)');
    expect(() => kernel.read.query(one, 'a')).toThrow('queries read each other in a cycle: one(a) -> two(a) -> one(a)');
    expect(() => kernel.overlay([set('b', 0)]).read.query(one, 'b')).toThrow('in a cycle: one(b) -> two(b) -> one(b)');
  });

  test('that open are forgotten', () => {
    const kernel = createKernel({ indexes: [], emissions: [emission] });
    expect(() => kernel.apply([set('a', 0), set('b', 1)])).toThrow('in a cycle');
    const delta = kernel.apply([set('a', 1)]);
    expect(delta.of(emission).upserted).toEqual(
      new Map([
        ['a', 'two: one is fine'],
        ['b', 'two: one is fine'],
      ]),
    );
    expect(() => kernel.apply([set('a', 0)])).toThrow('in a cycle: two(a) -> one(a) -> two(a)');
    expect(kernel.emitted(emission)).toEqual(new Map([['b', 'two: one is fine']]));
    kernel.apply([set('a', undefined), set('b', undefined)]);
    expect(kernel.statistics().nodes).toBe(0);
  });
});

describe('a function that throws', () => {
  const fragile = queryOf('fragile', 0, (read, name) => {
    const value = read.input(numbers, 'n', name) ?? 0;
    if (value < 0) throw new RangeError(`${name} is negative`);
    return value;
  });
  const double = queryOf('double', 0, (read, name) => 2 * (read.query(fragile, name) as number));
  const positive = defineIndex({
    name: 'positive',
    stratum: 0,
    over,
    *entries(read, _population, name = '') {
      if ((read.query(double, name) as number) > 0) yield { bucket: 'positive', entry: name };
    },
  });
  const emission = emissionOf(
    queryOf('report', 1, (read, name) => `${String(read.query(double, name))} of ${read.count(positive, 'positive')}`),
  );

  function newKernel(): Kernel {
    return createKernel({ indexes: [positive], emissions: [emission] });
  }

  test('is reported after everything else is applied, and its changes come with the next delta', () => {
    const kernel = newKernel();
    kernel.apply([set('a', 1), set('b', 2)]);
    expect(() => kernel.apply([set('a', -1), set('c', 3)])).toThrow(AggregateError);
    expect(Object.fromEntries(kernel.emitted(emission))).toEqual({ b: '4 of 2', c: '6 of 2' });
    expect(kernel.read.list(positive, 'positive')).toEqual(['b', 'c']);
    const delta = kernel.apply([]);
    expect(delta.of(emission)).toEqual({ upserted: new Map([['c', '6 of 2']]), removed: new Set(['a']) });
  });

  test('runs again when something that led to the error changes, and only then', () => {
    const kernel = newKernel();
    expect(() => kernel.apply([set('a', -1)])).toThrow('a is negative');
    kernel.apply([set('b', 1)]);
    expect(Object.fromEntries(kernel.emitted(emission))).toEqual({ b: '2 of 1' });
    kernel.apply([set('a', 5)]);
    expect(Object.fromEntries(kernel.emitted(emission))).toEqual({ a: '10 of 2', b: '2 of 2' });
    kernel.apply([set('a', undefined), set('b', undefined)]);
    expect(kernel.statistics().nodes).toBe(0);
  });

  test('throws to outside readers every time and leaves no nodes', () => {
    const kernel = newKernel();
    expect(() => kernel.apply([set('a', -1)])).toThrow('a is negative');
    expect(() => kernel.read.query(double, 'a')).toThrow('a is negative');
    expect(() => kernel.read.query(double, 'a')).toThrow('a is negative');
    expect(() => kernel.apply([set('a', -2)])).toThrow('a is negative');
    kernel.apply([set('a', undefined)]);
    expect(kernel.statistics().nodes).toBe(0);
  });

  test('leaves nothing of what it read where nobody else reads it', () => {
    const kernel = newKernel();
    const hopeless = queryOf('hopeless', 1, (read, name) => {
      read.input(numbers, 'missing', name);
      read.count(positive, `missing ${name}`);
      throw new Error('hopeless');
    });
    expect(() => kernel.read.query(hopeless, 'a')).toThrow('hopeless');
    expect(() =>
      kernel.read.query(
        queryOf('above', 1, (read, name) => read.query(hopeless, name)),
        'a',
      ),
    ).toThrow('hopeless');
    kernel.apply([]);
    expect(kernel.statistics().nodes).toBe(0);
  });

  test('may be handled by its reader, who then depends on what led to the error', () => {
    const careful = queryOf('careful', 0, (read, name) => {
      try {
        return read.query(double, name);
      } catch {
        return 'failed';
      }
    });
    const out = emissionOf(careful);
    const kernel = createKernel({ indexes: [], emissions: [out] });
    kernel.apply([set('a', 1)]);
    kernel.apply([set('a', -1)]);
    expect(kernel.emitted(out).get('a')).toBe('failed');
    expect(kernel.overlay([set('a', 2)]).read.query(careful, 'a')).toBe(4);
    kernel.apply([set('a', 3)]);
    expect(kernel.emitted(out).get('a')).toBe(6);
    expect(kernel.overlay([set('a', -2)]).read.query(careful, 'a')).toBe('failed');
  });

  test('throws through an overlay every time, also from an index, and the base stays usable', () => {
    const kernel = newKernel();
    kernel.apply([set('a', 1)]);
    const overlay = kernel.overlay([set('a', -1)]);
    expect(() => overlay.read.query(double, 'a')).toThrow('a is negative');
    expect(() => overlay.read.count(positive, 'positive')).toThrow('a is negative');
    expect(() => overlay.read.count(positive, 'positive')).toThrow('a is negative');
    expect(overlay.read.query(fragile, 'b')).toBe(0);
    expect(kernel.read.count(positive, 'positive')).toBe(1);
  });

  test('an equality that throws does not keep the old result', () => {
    const picky = defineQuery({
      name: 'picky',
      stratum: 0,
      compute: (read, name: string) => read.input(numbers, 'n', name),
      equal() {
        throw new TypeError('cannot compare');
      },
    });
    const out = emissionOf(picky);
    const kernel = createKernel({ indexes: [], emissions: [out] });
    kernel.apply([set('a', 1)]);
    kernel.apply([set('a', 2)]);
    expect(kernel.emitted(out).get('a')).toBe(2);
  });
});

test('computations cannot write', () => {
  const kernel: Kernel = createKernel({ indexes: [], emissions: [] });
  const writer = queryOf('writer', 0, () => kernel.apply([set('a', 1)]));
  expect(() => kernel.read.query(writer, 'x')).toThrow('writer must not write');
});
