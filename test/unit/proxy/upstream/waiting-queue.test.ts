import { describe, expect, test } from '@jest/globals';
import { createCounters } from '../../../../src/proxy/counters.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import type { ProxyLimits } from '../../../../src/proxy/limits/limits.ts';
import { createQuotas } from '../../../../src/proxy/limits/quota.ts';
import { WaitingQueue } from '../../../../src/proxy/upstream/waiting-queue.ts';
import type { Waiter } from '../../../../src/proxy/upstream/waiting-queue.ts';
import { eventually } from '../../../support/eventually.ts';

class Request implements Waiter {
  readonly client: string;
  leave: (() => void) | undefined;
  failure: string | undefined;

  constructor(client: string) {
    this.client = client;
  }

  fail(failure: string): void {
    this.failure = failure;
  }
}

/** A queue for an endpoint with so many places. */
function createQueue(places: number, limits: Partial<ProxyLimits> = {}) {
  const counters = createCounters();
  const all = { ...defaultLimits, ...limits };
  const quotas = createQuotas(all, counters);
  const queue = new WaitingQueue<Request>(places, all, quotas);
  const add = (client: string, count = 1): Request[] =>
    Array.from({ length: count }, () => {
      const request = new Request(client);
      queue.add(request);
      return request;
    });
  /** Those that have a place, in order. */
  const takeReady = (): string[] => {
    const clients: string[] = [];
    for (let request = queue.take(); request !== undefined; request = queue.take()) clients.push(request.client);
    return clients;
  };
  return { queue, quotas, reached: counters.limitsReached, add, takeReady };
}

describe('places of an endpoint', () => {
  test('one client alone gets seven eighths of them', () => {
    const { add, takeReady } = createQueue(512);
    add('a', 600);
    expect(takeReady()).toHaveLength(448);
  });

  test('there are some left for each client that comes then', () => {
    const { add, takeReady } = createQueue(512);
    add('a', 600);
    takeReady();
    add('b', 600);
    expect(takeReady()).toHaveLength(30);
    add('c', 600);
    expect(takeReady()).toHaveLength(2);
  });

  test('every request gets one if their number is not limited', () => {
    const { add, takeReady } = createQueue(Infinity);
    add('a', 600);
    add('b', 1);
    expect(takeReady()).toHaveLength(601);
  });

  test('a place that becomes free goes to the client that holds the fewest', () => {
    const { queue, add, takeReady } = createQueue(2);
    add('a', 4);
    add('b', 2);
    add('c', 1);
    expect(takeReady()).toEqual(['a', 'a']);
    queue.release('a');
    expect(takeReady()).toEqual(['b']);
    queue.release('a');
    expect(takeReady()).toEqual(['c']);
    queue.release('c');
    expect(takeReady()).toEqual(['a']);
    queue.release('b');
    expect(takeReady()).toEqual(['b']);
    expect(queue.enter('d')).toBe(false);
  });

  test('a request that gives up leaves its place to another one', () => {
    const { queue, add, takeReady } = createQueue(1);
    const [first] = add('a');
    const [second] = add('b');
    const [third] = add('c');
    second?.leave?.();
    expect(queue.size).toBe(1);
    first?.leave?.();
    expect(first?.leave).toBeUndefined();
    expect(takeReady()).toEqual(['c']);
    expect(third?.leave).toBeUndefined();
  });

  test('requests that need not wait take places, too', () => {
    const { queue, add, takeReady } = createQueue(1);
    expect(queue.enter('a')).toBe(true);
    expect(queue.enter('b')).toBe(false);
    add('b');
    expect(takeReady()).toEqual([]);
    queue.release('a');
    expect(takeReady()).toEqual(['b']);
  });

  test('more of them are given out at once', () => {
    const { queue, add, takeReady } = createQueue(1);
    add('a', 3);
    expect(takeReady()).toEqual(['a']);
    queue.resize(100);
    expect(takeReady()).toEqual(['a', 'a']);
  });
});

describe('room to wait', () => {
  test('one client alone gets seven eighths of it', async () => {
    const { add, reached, quotas } = createQueue(1, { waitingPerEndpoint: 16 });
    const requests = add('a', 16);
    await eventually(() => expect(requests.filter(({ failure }) => failure === 'busy')).toHaveLength(2));
    expect(add('b')[0]?.leave).toBeDefined();
    expect([reached['client-share'], reached['endpoint-waiting'], quotas.waiting.used]).toEqual([2, 0, 15]);
  });

  test('ends for all of them', async () => {
    const { add, reached } = createQueue(1, { waitingPerEndpoint: 2 });
    add('a', 2);
    const [third] = add('b');
    await eventually(() => expect(third?.failure).toBe('busy'));
    expect([reached['client-share'], reached['endpoint-waiting']]).toEqual([0, 1]);
  });

  test('nothing is left when all have gone', async () => {
    const { queue, quotas, add } = createQueue(2, { waitTimeout: 5 });
    const requests = [...add('a', 5), ...add('b', 5)];
    await eventually(() => expect(requests.every(({ failure }) => failure === 'busy')).toBe(true));
    expect([queue.size, quotas.waiting.used]).toEqual([0, 0]);
    add('a', 5);
    expect(queue.takeAll()).toHaveLength(5);
    expect([queue.size, quotas.waiting.used]).toEqual([0, 0]);
    expect([queue.enter('c'), queue.enter('d'), queue.enter('e')]).toEqual([true, true, false]);
  });
});
