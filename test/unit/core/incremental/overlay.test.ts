import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  createKernel,
  defineEmission,
  defineIndex,
  defineInput,
  defineQuery,
  type Kernel,
  write,
  type Write,
} from '../../../../src/core/incremental/index.ts';

let ran: string[] = [];
beforeEach(() => {
  ran = [];
});

/** A person, and the team they belong to. */
const people = defineInput<{ team: string; age: number }>('people');
const person = (name: string, team: string, age = 30): Write => write(people, ['person', name], { team, age });
const gone = (name: string): Write => write(people, ['person', name], undefined);

const teamOf = defineQuery({
  name: 'teamOf',
  stratum: 0,
  compute(read, name: string) {
    ran.push(`teamOf ${name}`);
    return read.input(people, 'person', name)?.team;
  },
});

const members = defineIndex({
  name: 'members',
  stratum: 0,
  over: { input: people, populations: ['person'] },
  *entries(read, _population, name = '') {
    ran.push(`members ${name}`);
    yield { bucket: read.query(teamOf, name) ?? '', entry: name };
  },
});

const size = defineQuery({
  name: 'size',
  stratum: 1,
  compute(read, team: string) {
    ran.push(`size ${team}`);
    return read.count(members, team);
  },
});

const captains = defineIndex({
  name: 'captains',
  stratum: 1,
  over: { input: people, populations: ['person'] },
  *entries(read, _population, name = '') {
    ran.push(`captains ${name}`);
    const team = read.query(teamOf, name) ?? '';
    if (read.first(members, team) === name) yield { bucket: 'all', entry: `${name} of ${team}` };
  },
});

const badge = defineQuery({
  name: 'badge',
  stratum: 2,
  compute(read, name: string) {
    ran.push(`badge ${name}`);
    const team = read.query(teamOf, name) ?? '';
    return `${name} of ${team}, one of ${read.query(size, team)}`;
  },
});

const badges = defineEmission({
  name: 'badges',
  stratum: 2,
  over: { input: people, populations: ['person'] },
  *emit(read, _population, name = '') {
    yield { key: name, value: read.query(badge, name) };
  },
});

function newKernel(): Kernel {
  const kernel = createKernel({ indexes: [captains, members], emissions: [badges] });
  kernel.apply([person('ann', 'red'), person('bob', 'red'), person('cid', 'blue'), person('dot', 'blue')]);
  ran = [];
  return kernel;
}

describe('an overlay', () => {
  test('reads as if the writes were applied', () => {
    const kernel = newKernel();
    const { read } = kernel.overlay([person('bob', 'blue'), person('eve', 'red'), gone('ann'), gone('nobody')]);
    expect(read.list(captains, 'all')).toEqual(['bob of blue', 'eve of red']);
    expect(read.list(members, 'red')).toEqual(['eve']);
    expect(read.count(members, 'blue')).toBe(3);
    expect(read.first(members, 'blue')).toBe('bob');
    expect(read.query(badge, 'cid')).toBe('cid of blue, one of 3');
    expect(read.input(people, 'person', 'ann')).toBeUndefined();
    expect(read.input(people, 'person', 'dot')).toEqual({ team: 'blue', age: 30 });
    expect(kernel.read.list(captains, 'all')).toEqual(['ann of red', 'cid of blue']);
  });

  test('computes what the writes reach, once, and takes the rest from the base', () => {
    const kernel = newKernel();
    const { read } = kernel.overlay([person('bob', 'red', 31)]);
    expect(read.query(badge, 'ann')).toBe('ann of red, one of 2');
    expect(read.query(badge, 'bob')).toBe('bob of red, one of 2');
    expect(read.list(captains, 'all')).toEqual(['ann of red', 'cid of blue']);
    expect(ran).toEqual(['teamOf bob']);
  });

  test('computes no index before one that may be affected is read', () => {
    const kernel = newKernel();
    const { read } = kernel.overlay([person('bob', 'blue')]);
    expect(read.query(teamOf, 'bob')).toBe('blue');
    expect(read.query(teamOf, 'cid')).toBe('blue');
    expect(ran).toEqual(['teamOf bob']);
    expect(read.count(members, 'green')).toBe(0);
    expect(ran).toEqual(['teamOf bob', 'members bob']);
  });

  test('writes nothing to the base', () => {
    const kernel = newKernel();
    const before = kernel.statistics();
    const { read } = kernel.overlay([person('zoe', 'new'), gone('ann')]);
    expect(read.query(badge, 'zoe')).toBe('zoe of new, one of 1');
    expect(read.query(badge, 'missing')).toBe('missing of , one of 0');
    expect(kernel.statistics()).toEqual(before);
  });

  test('is not to be read after the kernel went on', () => {
    const kernel = newKernel();
    const overlay = kernel.overlay([gone('ann')]);
    kernel.apply([]);
    expect(() => overlay.read.query(teamOf, 'ann')).toThrow('the overlay is out of date');
    expect(() => overlay.read.list(members, 'red')).toThrow('the overlay is out of date');
    expect(() => overlay.read.input(people, 'person', 'ann')).toThrow('the overlay is out of date');
    expect(() => [...overlay.affected(badge)]).toThrow('the overlay is out of date');
  });
});

describe('affected', () => {
  test('finds results that differ, with both values, through indexes too', () => {
    const overlay = newKernel().overlay([person('bob', 'blue', 31), person('cid', 'blue', 31)]);
    const found = [...overlay.affected(badge)].map(
      ({ args: [name], before, after }) => `${name}: ${before()} -> ${after()}`,
    );
    expect(found.sort()).toEqual([
      'ann: ann of red, one of 2 -> ann of red, one of 1',
      'bob: bob of red, one of 2 -> bob of blue, one of 3',
      'cid: cid of blue, one of 2 -> cid of blue, one of 3',
      'dot: dot of blue, one of 2 -> dot of blue, one of 3',
    ]);
    expect([...overlay.affected(size)].map(({ args: [team] }) => team).sort()).toEqual(['blue', 'red']);
  });

  test('works only as far as it is asked', () => {
    const kernel = newKernel();
    kernel.apply(Array.from({ length: 100 }, (_, position) => person(`p${position}`, 'red')));
    ran = [];
    const affected = kernel.overlay([gone('ann')]).affected(badge);
    const iterator = affected[Symbol.iterator]();
    expect(iterator.next().done).toBe(false);
    expect(ran.filter((one) => one.startsWith('badge')).length).toBe(1);
  });

  test('finds nothing where the writes change nothing', () => {
    expect([
      ...newKernel()
        .overlay([person('ann', 'red'), gone('nobody')])
        .affected(badge),
    ]).toEqual([]);
    expect(ran).toEqual([]);
  });
});
