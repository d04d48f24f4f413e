import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

/** Keeps the newest 100,000 of six million objects, as a process with long requests does. Prints how often V8 collected all garbage. */
const program = `
const { constants, PerformanceObserver } = require('node:perf_hooks');
let count = 0;
const observer = new PerformanceObserver((list) => {
  for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count += 1;
});
observer.observe({ entryTypes: ['gc'] });
const kept = [];
let made = 0;
const make = () => {
  for (let index = 0; index < 10_000; index += 1) kept[made++ % 100_000] = { name: made, list: [made, made, made, made] };
  if (made < 6_000_000) setImmediate(make);
  else setTimeout(() => console.log(count), 50);
};
`;

/** How often the program collects all garbage with the limit of the heap that data planes have, in a process that first runs `preparation`. */
function collections(preparation: string): number {
  const options = ['--max-old-space-size=384', '--disable-warning=ExperimentalWarning', '--eval'];
  const script = `${program} import('./src/cli/process/garbage-collection.ts').then((gc) => { ${preparation}; make(); });`;
  const env = { ...process.env, NODE_OPTIONS: '' };
  return Number(execFileSync(process.execPath, [...options, script], { encoding: 'utf8', env }));
}

test('a process that serves requests seldom collects all garbage, although its heap has a low limit', () => {
  const usual = collections('');
  expect(usual).toBeGreaterThan(3);
  expect(collections('gc.growBeforeCollecting()')).toBeLessThan(0.75 * usual);
});
