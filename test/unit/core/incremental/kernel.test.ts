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

/** The functions that ran, by name and arguments, since the last `ranSince`. */
let ran: string[] = [];
beforeEach(() => {
  ran = [];
});

function ranSince(): readonly string[] {
  const result = ran.sort();
  ran = [];
  return result;
}

interface Route {
  readonly service: string;
  readonly gateway: string;
  readonly comment?: string;
}

const objects = defineInput<unknown>('objects');
const route = (name: string, value: Route | undefined): Write => write(objects, ['Route', name], value);
const service = (name: string, value: { port: number; comment?: string } | undefined): Write =>
  write(objects, ['Service', name], value);

const routeSpec = defineQuery({
  name: 'routeSpec',
  stratum: 0,
  compute(read, name: string) {
    ran.push(`routeSpec ${name}`);
    const found = read.input(objects, 'Route', name) as Route | undefined;
    return found === undefined ? undefined : { service: found.service, gateway: found.gateway };
  },
});

const servicePort = defineQuery({
  name: 'servicePort',
  stratum: 0,
  compute(read, name: string) {
    ran.push(`servicePort ${name}`);
    return (read.input(objects, 'Service', name) as { port: number } | undefined)?.port;
  },
});

const routesOf = defineIndex({
  name: 'routesOf',
  stratum: 0,
  over: { input: objects, populations: ['Route'] },
  *entries(read, _kind, name = '') {
    ran.push(`routesOf ${name}`);
    const spec = read.query(routeSpec, name);
    if (spec !== undefined) yield { bucket: spec.gateway, entry: name };
  },
});

const attachedRoutes = defineQuery({
  name: 'attachedRoutes',
  stratum: 1,
  compute(read, gateway: string) {
    ran.push(`attachedRoutes ${gateway}`);
    return read.count(routesOf, gateway);
  },
});

const oldest = defineQuery({
  name: 'oldest',
  stratum: 1,
  compute(read, gateway: string) {
    ran.push(`oldest ${gateway}`);
    return read.first(routesOf, gateway);
  },
});

const configuration = defineEmission({
  name: 'configuration',
  stratum: 2,
  over: { input: objects, populations: ['Route', 'Gateway'] },
  *emit(read, kind, name = '') {
    ran.push(`configuration ${name}`);
    if (kind === 'Gateway') {
      yield { key: name, value: `${read.query(attachedRoutes, name)} routes, first ${read.query(oldest, name)}` };
      return;
    }
    const spec = read.query(routeSpec, name);
    if (spec !== undefined)
      yield { key: `${spec.gateway}/${name}`, value: `to ${read.query(servicePort, spec.service)}` };
  },
});

function newKernel(...writes: readonly Write[]): Kernel {
  const kernel = createKernel({ indexes: [routesOf], emissions: [configuration] });
  kernel.apply(writes);
  ranSince();
  return kernel;
}

const gateway = write(objects, ['Gateway', 'g'], {});

describe('cut-off', () => {
  test('a write of an equal value wakes nobody', () => {
    const kernel = newKernel(route('r', { service: 's', gateway: 'g' }), service('s', { port: 80 }));
    const delta = kernel.apply([route('r', { service: 's', gateway: 'g' }), service('s', { port: 80 })]);
    expect(ranSince()).toEqual([]);
    expect(delta.of(configuration)).toEqual({ upserted: new Map(), removed: new Set() });
    expect(delta.revision).toBe(2);
  });

  test('an equal result wakes no reader', () => {
    const kernel = newKernel(route('r', { service: 's', gateway: 'g' }), service('s', { port: 80 }));
    const { cutOffs } = kernel.statistics();
    kernel.apply([
      service('s', { port: 80, comment: 'new' }),
      route('r', { service: 's', gateway: 'g', comment: 'new' }),
    ]);
    expect(ranSince()).toEqual(['routeSpec r', 'servicePort s']);
    expect(kernel.statistics().cutOffs).toBe(cutOffs + 2);
  });

  test('an equal result further along the way wakes no reader either', () => {
    const isPrivileged = defineQuery({
      name: 'isPrivileged',
      stratum: 0,
      compute: (read, name: string) => (read.query(servicePort, name) ?? 0) < 1024,
    });
    const warnings = defineEmission({
      name: 'warnings',
      stratum: 0,
      over: { input: objects, populations: ['Service'] },
      *emit(read, _kind, name = '') {
        ran.push(`warnings ${name}`);
        if (read.query(isPrivileged, name)) yield { key: name, value: 'privileged' };
      },
    });
    const kernel = createKernel({ indexes: [], emissions: [warnings] });
    kernel.apply([service('s', { port: 80 })]);
    ranSince();
    kernel.apply([service('s', { port: 81 })]);
    expect(ranSince()).toEqual(['servicePort s']);
    const delta = kernel.apply([service('s', { port: 8080 })]);
    expect(ranSince()).toEqual(['servicePort s', 'warnings s']);
    expect(delta.of(warnings)).toEqual({ upserted: new Map(), removed: new Set(['s']) });
  });

  test("a query's own equality decides where it has one", () => {
    const rough = defineQuery({
      name: 'rough',
      stratum: 0,
      compute: (read, name: string) => read.query(servicePort, name) ?? 0,
      equal: (before, after) => Math.abs(before - after) < 10,
    });
    const kernel = createKernel({
      indexes: [],
      emissions: [emissionOver('Service', (read, name) => read.query(rough, name))],
    });
    kernel.apply([service('s', { port: 80 })]);
    const { recomputations } = kernel.statistics();
    kernel.apply([service('s', { port: 85 })]);
    expect(kernel.statistics().recomputations).toBe(recomputations + 2);
    expect(kernel.read.query(rough, 's')).toBe(80);
    kernel.apply([service('s', { port: 95 })]);
    expect(kernel.read.query(rough, 's')).toBe(95);
  });
});

describe('a change', () => {
  test('reaches what read it and nothing else', () => {
    const kernel = newKernel(
      gateway,
      service('s', { port: 80 }),
      service('t', { port: 90 }),
      route('a', { service: 's', gateway: 'g' }),
      route('b', { service: 't', gateway: 'g' }),
    );
    const delta = kernel.apply([service('t', { port: 91 })]);
    expect(ranSince()).toEqual(['configuration b', 'servicePort t']);
    expect(delta.of(configuration)).toEqual({ upserted: new Map([['g/b', 'to 91']]), removed: new Set() });
  });

  test('of dependencies is followed', () => {
    const kernel = newKernel(
      route('r', { service: 's', gateway: 'g' }),
      service('s', { port: 80 }),
      service('t', { port: 90 }),
    );
    kernel.apply([route('r', { service: 't', gateway: 'g' })]);
    ranSince();
    kernel.apply([service('s', { port: 81 })]);
    expect(ranSince()).toEqual([]);
    kernel.apply([service('t', { port: 91 })]);
    expect(kernel.emitted(configuration)).toEqual(new Map([['g/r', 'to 91']]));
  });

  test('of an input and an index at once runs a reader of both once', () => {
    const rank = defineQuery({
      name: 'rank',
      stratum: 1,
      compute(read, name: string) {
        ran.push(`rank ${name}`);
        const found = read.input(objects, 'Route', name) as Route | undefined;
        return found === undefined ? -1 : read.list(routesOf, found.gateway).indexOf(name);
      },
    });
    const kernel = createKernel({
      indexes: [routesOf],
      emissions: [emissionOver('Route', (read, name) => read.query(rank, name))],
    });
    kernel.apply([route('b', { service: 's', gateway: 'g' })]);
    ranSince();
    kernel.apply([route('b', { service: 't', gateway: 'g' }), route('a', { service: 's', gateway: 'g' })]);
    expect(ranSince().filter((one) => one.startsWith('rank'))).toEqual(['rank a', 'rank b']);
    expect(kernel.read.query(rank, 'b')).toBe(1);
  });

  test('that is undone in the same batch is none; of several writes to a cell the last counts', () => {
    const kernel = newKernel(route('r', { service: 's', gateway: 'g' }), service('s', { port: 80 }));
    const undone = kernel.apply([route('r', undefined), route('r', { service: 's', gateway: 'g' })]);
    expect(undone.of(configuration)).toEqual({ upserted: new Map(), removed: new Set() });
    const last = kernel.apply([service('s', { port: 1 }), service('s', { port: 2 })]);
    expect(last.of(configuration).upserted).toEqual(new Map([['g/r', 'to 2']]));
    const gone = kernel.apply([route('q', { service: 's', gateway: 'g' }), route('q', undefined)]);
    expect(gone.of(configuration)).toEqual({ upserted: new Map(), removed: new Set() });
    expect(kernel.emitted(configuration)).toEqual(new Map([['g/r', 'to 2']]));
  });
});

describe('facets of a bucket', () => {
  test('wake their readers only when they change themselves', () => {
    const kernel = newKernel(gateway, route('b', { service: 's', gateway: 'g' }));
    const ranFor = (...writes: readonly Write[]): readonly string[] => {
      kernel.apply(writes);
      return ranSince().filter((one) => one.startsWith('attachedRoutes') || one.startsWith('oldest'));
    };
    expect(ranFor(route('c', { service: 's', gateway: 'g' }))).toEqual(['attachedRoutes g']);
    expect(ranFor(route('a', { service: 's', gateway: 'g' }), route('c', undefined))).toEqual(['oldest g']);
    expect(ranFor(route('z', { service: 's', gateway: 'g' }), route('b', undefined))).toEqual([]);
    expect(ranFor(route('y', { service: 's', gateway: 'other' }))).toEqual([]);
    expect(kernel.emitted(configuration).get('g')).toBe('2 routes, first a');
  });

  test('are immutable where they are lists', () => {
    const kernel = newKernel(route('b', { service: 's', gateway: 'g' }));
    const before = kernel.read.list(routesOf, 'g');
    kernel.apply([route('a', { service: 's', gateway: 'g' })]);
    expect(before).toEqual(['b']);
    expect(kernel.read.list(routesOf, 'g')).toEqual(['a', 'b']);
  });
});

describe('absence', () => {
  test('of a cell or bucket is a dependency', () => {
    const kernel = newKernel(gateway, route('r', { service: 'missing', gateway: 'h' }));
    expect(Object.fromEntries(kernel.emitted(configuration))).toEqual({
      g: '0 routes, first undefined',
      'h/r': 'to undefined',
    });
    kernel.apply([service('missing', { port: 80 })]);
    expect(ranSince()).toEqual(['configuration r', 'servicePort missing']);
    kernel.apply([route('r', { service: 'missing', gateway: 'g' })]);
    expect(Object.fromEntries(kernel.emitted(configuration))).toEqual({ g: '1 routes, first r', 'g/r': 'to 80' });
  });

  test('leaves nothing behind when nobody reads it any more', () => {
    const kernel = newKernel();
    for (let round = 0; round < 3; round++) {
      kernel.apply([gateway, route('r', { service: `missing ${round}`, gateway: `missing ${round}` })]);
      kernel.apply([route('r', { service: `also missing ${round}`, gateway: 'g' })]);
      kernel.apply([
        write(objects, ['Gateway', 'g'], undefined),
        route('r', undefined),
        route('never there', undefined),
      ]);
      expect(kernel.statistics()).toMatchObject({ nodes: 0, cells: 0, queries: 0, contributors: 0, buckets: 0 });
    }
  });

  test('is told apart from names with separators in them', () => {
    const kernel = newKernel();
    kernel.apply([
      write(objects, ['Service', 'a', 'b'], { port: 1 }),
      write(objects, ['Service', 'a\u0000b'], { port: 2 }),
    ]);
    expect(kernel.read.input(objects, 'Service', 'a', 'b')).toEqual({ port: 1 });
    expect(kernel.read.input(objects, 'Service', 'a\u0000b')).toEqual({ port: 2 });
    expect(kernel.read.input(objects, 'Service', 'a')).toBeUndefined();
  });
});

describe('reads from outside', () => {
  test('are remembered until the next apply, and no longer', () => {
    const kernel = newKernel(service('s', { port: 80 }));
    const { nodes } = kernel.statistics();
    expect(kernel.read.query(servicePort, 's')).toBe(80);
    expect(kernel.read.query(servicePort, 's')).toBe(80);
    expect(kernel.read.query(servicePort, 'missing')).toBeUndefined();
    expect(kernel.read.query(attachedRoutes, 'missing')).toBe(0);
    expect(kernel.read.list(routesOf, 'missing')).toEqual([]);
    expect(kernel.read.input(objects, 'Nothing', 'missing')).toBeUndefined();
    expect(ranSince()).toEqual(['attachedRoutes missing', 'servicePort missing', 'servicePort s']);
    kernel.apply([]);
    expect(kernel.statistics().nodes).toBe(nodes);
    kernel.apply([service('s', { port: 81 })]);
    expect(ranSince()).toEqual([]);
    expect(kernel.read.query(servicePort, 's')).toBe(81);
  });

  test('are not all remembered, however many there are', () => {
    const kernel = newKernel(service('s', { port: 80 }));
    const { queries } = kernel.statistics();
    for (let position = 0; position < 2_000; position++)
      expect(kernel.read.query(servicePort, `missing ${position}`)).toBeUndefined();
    expect(kernel.statistics().queries - queries).toBeLessThan(500);
    expect(kernel.read.query(servicePort, 's')).toBe(80);
    kernel.apply([service('s', { port: 81 })]);
    expect(kernel.read.query(servicePort, 's')).toBe(81);
  });

  test('see every apply', () => {
    const kernel = newKernel(service('s', { port: 80 }));
    expect(kernel.read.query(servicePort, 's')).toBe(80);
    kernel.apply([service('s', { port: 81 })]);
    expect(kernel.read.query(servicePort, 's')).toBe(81);
  });
});

describe('emissions', () => {
  test('a key may move from one contributor to another in one batch', () => {
    const emission = emissionOver(
      'Service',
      () => 1,
      (read, name) => (read.input(objects, 'Service', name) as { comment: string }).comment,
    );
    const kernel = createKernel({ indexes: [], emissions: [emission] });
    kernel.apply([service('a', { port: 1, comment: 'x' }), service('b', { port: 1, comment: 'y' })]);
    const delta = kernel.apply([service('a', { port: 1, comment: 'y' }), service('b', { port: 1, comment: 'z' })]);
    expect(kernel.emitted(emission)).toEqual(
      new Map([
        ['y', 1],
        ['z', 1],
      ]),
    );
    expect(delta.of(emission)).toEqual({ upserted: new Map([['z', 1]]), removed: new Set(['x']) });
  });

  test('a key that is emitted twice is an error, and the first one stays', () => {
    const emission = emissionOver(
      'Service',
      (_, name) => name,
      () => 'same',
    );
    const kernel = createKernel({ indexes: [], emissions: [emission] });
    kernel.apply([service('a', { port: 1 })]);
    expect(() => kernel.apply([service('b', { port: 1 })])).toThrow(
      'emission over Service: key "same" is emitted twice',
    );
    expect(kernel.emitted(emission)).toEqual(new Map([['same', 'a']]));
    kernel.apply([service('b', undefined)]);
    expect(kernel.emitted(emission)).toEqual(new Map([['same', 'a']]));
    kernel.apply([service('a', undefined)]);
    expect(kernel.statistics().nodes).toBe(0);
  });

  test('a population that is named twice counts once', () => {
    const emission = defineEmission({
      name: 'twice',
      stratum: 0,
      over: { input: objects, populations: ['Service', 'Service'] },
      emit: (_, _kind, name = '') => [{ key: name, value: 1 }],
    });
    const kernel = createKernel({ indexes: [], emissions: [emission] });
    kernel.apply([service('a', { port: 1 })]);
    expect(kernel.emitted(emission)).toEqual(new Map([['a', 1]]));
  });

  test('one that is not part of the kernel is an error', () => {
    const other = emissionOver('Service', () => 1);
    const kernel = newKernel();
    expect(() => kernel.emitted(other)).toThrow('emission over Service is not part of this kernel');
    expect(() => kernel.apply([]).of(other)).toThrow('emission over Service is not part of this kernel');
  });
});

test('long chains of queries do not overflow the stack', () => {
  const countDown = defineQuery({
    name: 'countDown',
    stratum: 0,
    compute: (read, from: string): number =>
      from === '0' ? (read.query(servicePort, 's') ?? 0) : read.query(countDown, String(Number(from) - 1)) + 1,
  });
  const emission = emissionOver('Service', (read) => read.query(countDown, '500'));
  const kernel = createKernel({ indexes: [], emissions: [emission] });
  kernel.apply([service('s', { port: 80 })]);
  expect(kernel.emitted(emission).get('s')).toBe(580);
  kernel.apply([service('s', { port: 81 })]);
  expect(kernel.emitted(emission).get('s')).toBe(581);
});

type Emitting = (read: Kernel['read'], name: string) => unknown;

/** Emits one value for each object of a kind, by default under its name. */
function emissionOver(
  kind: string,
  value: Emitting,
  key: (read: Kernel['read'], name: string) => string = (_, name) => name,
): ReturnType<typeof defineEmission> {
  return defineEmission({
    name: `over ${kind}`,
    stratum: 9,
    over: { input: objects, populations: [kind] },
    *emit(read, _kind, name = '') {
      yield { key: key(read, name), value: value(read, name) };
    },
  });
}

test('the present cells of an input are those with a value', () => {
  const kernel = createKernel({ indexes: [], emissions: [] });
  expect(kernel.present(objects)).toEqual([]);
  kernel.apply([service('a', { port: 1 }), service('b', { port: 2 })]);
  kernel.apply([service('a', undefined), route('c', { service: 'b', gateway: 'g' })]);
  expect(kernel.present(objects)).toEqual([
    ['Service', 'b'],
    ['Route', 'c'],
  ]);
});
