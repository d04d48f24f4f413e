import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/**
 * Adds 100,000 objects of 2 KB, and removes each of them soon. After a tenth of them, all garbage is collected once, so that the collection is in old space.
 * Prints the peak of the heap in MB after that.
 */
const program = `
const { getHeapStatistics } = require('node:v8');
const start = ({ LinkedSet }, { ReleasingMap }) => {
  const collections = {
    Map: () => { const map = new Map(); return { add: (one) => map.set(one.id, one), remove: (one) => map.delete(one.id) }; },
    ReleasingMap: () => { const map = new ReleasingMap(); return { add: (one) => map.set(one.id, one), remove: (one) => map.delete(one.id) }; },
    Set: () => { const set = new Set(); return { add: (one) => set.add(one), remove: (one) => set.delete(one) }; },
    LinkedSet: () => { const set = new LinkedSet(Symbol('place')); return { add: (one) => set.add(one), remove: (one) => set.delete(one) }; },
  };
  const { add, remove } = collections[process.argv[1]]();
  const present = [];
  let [id, peak] = [0, 0];
  const step = () => {
    for (let count = 0; count < 200; count += 1) {
      const one = { id: id++, data: new Array(250).fill(id) };
      add(one);
      present.push(one);
      if (present.length > 3) remove(present.shift());
    }
    peak = Math.max(peak, getHeapStatistics().used_heap_size);
    if (id === 10_000) gc();
    if (id === 10_000) peak = 0;
    if (id < 100_000) setImmediate(step);
    else console.log(Math.round(peak / 1e6));
  };
  step();
};
Promise.all([import('./src/proxy/limits/linked-set.ts'), import('./src/proxy/limits/releasing-map.ts')]).then(([set, map]) => start(set, map));
`;

function peakWith(collection: string): number {
  const options = [
    '--expose-gc',
    '--max-old-space-size=384',
    '--disable-warning=ExperimentalWarning',
    '--eval',
    program,
    collection,
  ];
  return Number(
    execFileSync(process.execPath, options, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }),
  );
}

test.each([
  ['LinkedSet', 'Set'],
  ['ReleasingMap', 'Map'],
])('V8 collects what was removed from a %s with the young garbage, unlike with a %s', (own, builtin) => {
  expect(peakWith(own)).toBeLessThan(peakWith(builtin) / 2);
});
