import { describe, expect, jest, test } from '@jest/globals';
import { FlowOrder } from '../../../../src/proxy/layer4/flow-order.ts';
import type { OrderedFlow } from '../../../../src/proxy/layer4/flow-order.ts';

interface TestFlow extends OrderedFlow {
  readonly ends: (string | undefined)[];
}

function flow(owner = 'a'): TestFlow {
  const ends: (string | undefined)[] = [];
  return { owner, renewedAt: 0, ends, end: (reason) => ends.push(reason) };
}

const limits = { udpIdleTimeout: 60_000, udpFlows: 3, udpFlowsPerClient: 2 };

describe('FlowOrder', () => {
  test('ends the flow that has been silent longest where a new one has no room', () => {
    const reached: string[] = [];
    const order = new FlowOrder(limits, (limit) => reached.push(limit));
    const [first, second, third, fourth] = [flow('a'), flow('b'), flow('c'), flow('d')];
    for (const each of [first, second, third]) order.add(each);
    order.touch(first);
    order.add(fourth);
    expect([first, second, third, fourth].map(({ ends }) => ends)).toEqual([[], ['evicted'], [], []]);
    expect(order.size).toBe(3);
    expect(reached).toEqual(['udp-flows']);
  });

  test('ends a flow of the same client first', () => {
    const reached: string[] = [];
    const order = new FlowOrder(limits, (limit) => reached.push(limit));
    const [other, first, second, third] = [flow('b'), flow(), flow(), flow()];
    for (const each of [other, first, second, third]) order.add(each);
    expect([other, first, second, third].map(({ ends }) => ends)).toEqual([[], ['evicted'], [], []]);
    expect(reached).toEqual(['udp-client-flows']);
  });

  test('forgets flows that have ended', () => {
    const order = new FlowOrder(limits, () => undefined);
    const [first, second] = [flow(), flow()];
    order.add(first);
    order.remove(first);
    order.touch(first);
    order.remove(first);
    expect(order.size).toBe(0);
    order.add(second);
    order.add(flow());
    expect(first.ends).toEqual([]);
    expect(second.ends).toEqual([]);
  });

  test('ends flows that are silent for too long, and no others', () => {
    jest.useFakeTimers();
    try {
      const order = new FlowOrder(limits, () => undefined);
      const [silent, active] = [flow(), flow()];
      order.add(silent);
      order.add(active);
      jest.advanceTimersByTime(40_000);
      order.touch(active);
      jest.advanceTimersByTime(30_000);
      expect([silent.ends, active.ends]).toEqual([[undefined], []]);
      jest.advanceTimersByTime(40_000);
      expect(active.ends).toEqual([undefined]);
      expect(order.size).toBe(0);
      expect(jest.getTimerCount()).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });
});
