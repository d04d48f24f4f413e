import { describe, expect, test } from '@jest/globals';
import { countOutcome, createCounters } from '../../../../src/proxy/counters.ts';
import {
  clearPresent,
  countersOf,
  createSharedCounters,
  summedCounters,
} from '../../../../src/proxy/workers/shared-counters.ts';

describe('counters of workers', () => {
  test('have the same members as those of one thread', () => {
    const shared = createSharedCounters(2);
    expect(JSON.parse(JSON.stringify(summedCounters(shared, { used: 0 })))).toEqual(createCounters());
    expect(JSON.parse(JSON.stringify(countersOf(shared, 1)))).toEqual(createCounters());
  });

  test('are summed', () => {
    const shared = createSharedCounters(2);
    const [one, two] = [countersOf(shared, 0), countersOf(shared, 1)];
    const sums = summedCounters(shared, { used: 12 });
    one.requests += 1;
    two.requests += 2;
    two.layer4.received.udp += 100;
    countOutcome(one, 200, undefined, 3);
    countOutcome(two, 503, 'no-endpoints', 20_000);
    expect(sums).toMatchObject({ requests: 3, durationSum: 20_003, buffered: { used: 12 } });
    expect([sums.layer4.received.udp, sums.responses['2xx'], sums.responses['5xx']]).toEqual([100, 1, 1]);
    expect([sums.reasons['no-endpoints'], [...sums.durations]]).toEqual([
      1,
      [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]);
    expect([one.requests, two.requests]).toEqual([1, 2]);
  });

  test('keep what an ended worker has counted, except what was open', () => {
    const shared = createSharedCounters(2);
    const [one, two] = [countersOf(shared, 0), countersOf(shared, 1)];
    for (const counters of [one, two]) {
      counters.connections += 1;
      counters.openConnections += 1;
      counters.openRequests += 1;
      counters.layer4.started.tcp += 1;
      counters.layer4.open.tcp += 1;
    }
    clearPresent(shared, 1);
    const { connections, openConnections, openRequests, layer4 } = summedCounters(shared, { used: 0 });
    expect([connections, openConnections, openRequests, layer4.started.tcp, layer4.open.tcp]).toEqual([2, 1, 1, 2, 1]);
  });
});
