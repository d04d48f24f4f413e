import { expect, test } from '@jest/globals';
import { Attempts } from '../../../../src/proxy/handling/attempts.ts';
import type { RetryPolicy } from '../../../../src/proxy/handling/retry.ts';
import { Endpoint, EndpointSet } from '../../../../src/proxy/upstream/endpoints.ts';
import type { DataPlane } from '../../../../src/proxy/data-plane.ts';
import { eventually } from '../../../support/eventually.ts';

const endless: RetryPolicy = { tries: Infinity, codes: new Set(), delayAfter: () => 0 };

/** Tries endpoints of a backend that all refuse, until so many rows of tries are over. */
async function tryRefusing(endpoints: number, count: number) {
  const all = Array.from({ length: endpoints }, (_, index) => new Endpoint('a', index));
  /** Tries without a pause in between. */
  const rows: Endpoint[][] = [[]];
  const quotas = { retries: { take: () => rows.push([]) <= count, release: () => undefined } };
  const plane = { now: () => 0, limits: { attempts: 3 }, endpoints: new Map(), quotas };
  let mostRemembered = 0;
  const set = new EndpointSet(all);
  const observed = Object.assign(Object.create(set) as EndpointSet, {
    pick: (tried: readonly Endpoint[], now: number) => {
      mostRemembered = Math.max(mostRemembered, tried.length);
      return set.pick(tried, now);
    },
  });
  let refusal: unknown;
  const start = (): void => {
    const endpoint = attempts.next();
    if (endpoint !== undefined) rows.at(-1)?.push(endpoint);
    queueMicrotask(() => {
      refusal = attempts.tryAnother('backend-refused');
    });
  };
  const attempts: Attempts = new Attempts(
    { plane: plane as unknown as DataPlane, address: '192.0.2.1', guard: (action) => action() },
    { key: undefined, endpoints: observed, retry: endless },
    { start },
  );
  start();
  await eventually(() => expect(refusal).toBe('backend-busy'));
  return { rows: rows.slice(0, -1), mostRemembered, all };
}

test('endpoints that refuse are followed by others, with pauses, and by all again when none is left', async () => {
  const { rows, all } = await tryRefusing(5, 4);
  const [a, b, c, d, e] = all;
  expect(rows).toEqual([
    [a, b, c],
    [d, e],
    [a, b, c],
    [d, e],
  ]);
});

// Each try compared all endpoints with all that were tried: with 20,000 of them, one turn of the event loop took more than a second.
test('a request remembers a limited number of endpoints, and goes on to the next ones', async () => {
  const { rows, mostRemembered, all } = await tryRefusing(300, 100);
  expect(mostRemembered).toBeLessThan(70);
  expect(rows.flat()).toEqual(all);
});
