import { describe, expect, test } from '@jest/globals';
import { capabilities } from '../../../src/channel/capabilities.ts';
import { digestOf } from '../../../src/channel/digest.ts';
import type { ToController, Transaction } from '../../../src/channel/messages.ts';
import { ConfigurationSink } from '../../../src/channel/sink.ts';
import type { ConfigChange } from '../../../src/channel/sink.ts';
import { encodeLine, longestLines } from '../../../src/channel/wire.ts';
import type { ConfigResource } from '../../../src/core/routing/config.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';

function transaction(id: number, ...resources: readonly ConfigResource[]): Transaction {
  const upserts = resources.map((resource) => ({ digest: digestOf(resource), resource }));
  return { type: 'transaction', id, upserts, removals: [] };
}

function recorded() {
  const changes: ConfigChange[] = [];
  const sent: ToController[] = [];
  const sink = new ConfigurationSink((change) => {
    changes.push(change);
    return [];
  });
  return { changes, sent, sink, peer: sink.connect((message) => sent.push(message)) };
}

describe('a sink', () => {
  test('sends an acknowledgement that the controller accepts, whatever the problems are', async () => {
    const { sent, sink, peer } = recorded();
    void peer.receive(transaction(1));
    const problems = Array.from({ length: 10_000 }, (_, number) => ({
      key: `listener/${'\u0001'.repeat(200)}/${number}` as const,
      message: '\u0001'.repeat(number % 2_000),
    }));
    void sink.refresh(() => Promise.resolve(problems));
    await eventually(() => expect(sent).toHaveLength(3));
    const bytes = Buffer.byteLength(encodeLine(sent[2] as ToController));
    expect(bytes).toBeLessThan(longestLines.toController.others);
    expect(bytes).toBeGreaterThan(longestLines.toController.others / 2);
    expect(sent[2]).toMatchObject({ problems: expect.arrayContaining(problems.slice(0, 100)) });
  });

  test('problems that were examined before a change do not replace those of the change', async () => {
    const [examined, entered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const sent: ToController[] = [];
    const { key } = endpointsConfig('cart', 1);
    const sink = new ConfigurationSink(() => [{ key, message: 'after' }]);
    const peer = sink.connect((message) => sent.push(message));
    const refreshed = sink.refresh(async () => {
      entered.resolve();
      await examined.promise;
      return [{ key, message: 'before' }];
    });
    await entered.promise;
    const taken = peer.receive(transaction(1, endpointsConfig('cart', 1)));
    examined.resolve();
    await Promise.all([refreshed, taken]);
    expect(sent.at(-1)).toEqual({ type: 'acknowledge', id: 1, problems: [{ key, message: 'after' }] });
  });

  test('tries again what is worth it until it succeeds, and tells so', async () => {
    const { key } = endpointsConfig('cart', 1);
    const inUse = [{ key, message: 'in use', isWorthRetry: true as const }];
    const attempts = [inUse, new Error('failed'), inUse, [{ key, message: 'for good' }]];
    const changes: ConfigChange[] = [];
    const sent: ToController[] = [];
    const sink = new ConfigurationSink((change) => {
      const attempt = attempts[changes.length] ?? [];
      changes.push(change);
      if (attempt instanceof Error) throw attempt;
      return attempt;
    }, 1);
    void sink.connect((message) => sent.push(message)).receive(transaction(1, endpointsConfig('cart', 1)));
    const acknowledged = (message: string) => ({ type: 'acknowledge', id: 1, problems: [{ key, message }] });
    await eventually(() => expect(sent.at(-1)).toEqual(acknowledged('for good')));
    expect(sent.slice(1)).toEqual(['in use', 'in use', 'for good'].map(acknowledged));
    expect(changes.slice(1)).toEqual(
      Array.from({ length: 3 }, () => ({ upserts: [], certificates: [], removals: [] })),
    );
  });

  test('a failed examination does not stop later changes', async () => {
    const { sent, sink, peer } = recorded();
    await expect(sink.refresh(() => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await peer.receive(transaction(1, endpointsConfig('cart', 1)));
    expect(sent.at(-1)).toEqual({ type: 'acknowledge', id: 1, problems: [] });
  });

  test('says hello with what it holds', async () => {
    const { sent, sink, peer } = recorded();
    const cart = endpointsConfig('cart', 1);
    void peer.receive(transaction(4, cart));
    sink.connect((message) => sent.push(message));
    await eventually(() => expect(sent.at(-1)).toEqual({ type: 'hello', digests: {}, capabilities }));
    // The former connection is gone before its transaction was taken: nothing of it is applied or answered.
    expect(sent).toHaveLength(1);
  });

  test('a transaction that comes twice, or late, is acknowledged but not applied', async () => {
    const { changes, sent, peer } = recorded();
    void peer.receive(transaction(1, endpointsConfig('cart', 1)));
    void peer.receive(transaction(2, endpointsConfig('cart', 2)));
    void peer.receive(transaction(1, endpointsConfig('cart', 1)));
    await eventually(() => expect(sent.map((message) => message.type)).toHaveLength(4));
    expect(changes.map(({ upserts }) => upserts)).toEqual([[endpointsConfig('cart', 1)], [endpointsConfig('cart', 2)]]);
    expect(sent.slice(1)).toEqual([1, 2, 1].map((id) => ({ type: 'acknowledge', id, problems: [] })));
  });

  test('what is held already, by its digest, is not applied again', async () => {
    const { changes, sent, peer } = recorded();
    void peer.receive(transaction(1, endpointsConfig('cart', 1)));
    void peer.receive(transaction(2, endpointsConfig('cart', 1)));
    void peer.receive({ ...transaction(3), removals: ['endpoints/shop/other/80'] });
    await eventually(() => expect(sent).toHaveLength(4));
    expect(changes).toHaveLength(1);
  });

  test('a change that was at work when the connection went is part of the next hello', async () => {
    const gate = Promise.withResolvers<void>();
    const sink = new ConfigurationSink(async () => {
      await gate.promise;
      return [];
    });
    const [before, after]: [ToController[], ToController[]] = [[], []];
    const cart = endpointsConfig('cart', 1);
    const peer = sink.connect((message) => before.push(message));
    void peer.receive(transaction(1, cart));
    await eventually(() => expect(before).toHaveLength(1));
    peer.close();
    sink.connect((message) => after.push(message));
    gate.resolve();
    await eventually(() =>
      expect(after).toEqual([{ type: 'hello', digests: { [cart.key]: digestOf(cart) }, capabilities }]),
    );
    expect(before).toHaveLength(1);
  });
});
