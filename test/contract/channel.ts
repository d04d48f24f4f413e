import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { ResourceProblem } from '../../src/channel/messages.ts';
import { ConfigurationSink } from '../../src/channel/sink.ts';
import type { ConfigChange } from '../../src/channel/sink.ts';
import { ConfigurationSource } from '../../src/channel/source.ts';
import type { ConfigKey, ConfigResource } from '../../src/core/routing/config.ts';
import { endpointsConfig, listenerConfig } from '../support/config.ts';
import { routeConfig } from '../support/routes.ts';
import { until as eventually } from '../support/until.ts';

type Connect = (source: ConfigurationSource, sink: ConfigurationSink) => { close(): void };

/** A proxy that only remembers what it was told. */
class Replica {
  readonly held = new Map<ConfigKey, ConfigResource>();
  readonly changes: ConfigChange[] = [];
  readonly sink = new ConfigurationSink((change) => this.apply(change));
  /** Keys that do not work here. */
  readonly broken = new Set<ConfigKey>();

  problems(): ResourceProblem[] {
    return [...this.held.keys()].filter((key) => this.broken.has(key)).map((key) => ({ key, message: 'port in use' }));
  }

  private apply(change: ConfigChange): ResourceProblem[] {
    this.changes.push(change);
    for (const key of change.removals) this.held.delete(key);
    for (const resource of change.upserts) this.held.set(resource.key, resource);
    return this.problems();
  }
}

const endpoints = endpointsConfig('cart', 3000);
const listener = listenerConfig('web');
const route = routeConfig('shop/cart');
const all = [route, listener, endpoints];

function keysOf(change: ConfigChange | undefined): { upserts: ConfigKey[]; removals: readonly ConfigKey[] } {
  return { upserts: change?.upserts.map(({ key }) => key) ?? [], removals: change?.removals ?? [] };
}

/** What every transport between a `ConfigurationSource` and a `ConfigurationSink` has to keep. */
export function channelContract(transport: string, connect: Connect): void {
  describe(`the channel over ${transport}`, () => {
    /** A source that holds `resources`, and a replica that is in step with it. */
    async function inStep(...resources: readonly ConfigResource[]) {
      const source = new ConfigurationSource();
      const replica = new Replica();
      const id = source.publish(resources, []);
      const connection = connect(source, replica.sink);
      await replica.sink.synchronised;
      await eventually(() => expect(source.laggards(id)).toEqual([]));
      replica.changes.length = 0;
      return { source, replica, connection };
    }

    test('brings a new proxy everything in one transaction, what is used first, then the end mark', async () => {
      const source = new ConfigurationSource();
      const replica = new Replica();
      source.publish(all, []);
      expect(replica.sink.isSynchronised).toBe(false);
      connect(source, replica.sink);
      await replica.sink.synchronised;
      expect(replica.sink.isSynchronised).toBe(true);
      expect(replica.changes.map(keysOf)).toEqual([
        { upserts: [endpoints.key, listener.key, route.key], removals: [] },
      ]);
      expect([...replica.held.values()]).toEqual([endpoints, listener, route]);
    });

    test('an empty configuration is synchronised too', async () => {
      const { replica } = await inStep();
      expect(replica.held.size).toBe(0);
    });

    test('brings a change as one transaction: users leave before what they used', async () => {
      const { source, replica } = await inStep(...all);
      const other = endpointsConfig('other', 4000);
      const id = source.publish([{ ...listener, port: 81 }, other], [endpoints.key, route.key, 'route/never/there']);
      await eventually(() => expect(source.laggards(id)).toEqual([]));
      expect(replica.changes.map(keysOf)).toEqual([
        { upserts: [other.key, listener.key], removals: [route.key, endpoints.key] },
      ]);
    });

    test('sends nothing when nothing differs', async () => {
      const { source, replica } = await inStep(...all);
      const id = source.publish(all, ['route/never/there']);
      expect(source.publish([{ ...endpoints, addresses: [...endpoints.addresses] }], [])).toBe(id);
      const next = source.publish([endpointsConfig('cart', 3001)], []);
      expect(next).toBe(id + 1);
      await eventually(() => expect(source.laggards(next)).toEqual([]));
      expect(replica.changes.map(keysOf)).toEqual([{ upserts: [endpoints.key], removals: [] }]);
    });

    test('a proxy that comes back gets the difference only, and stale entries go', async () => {
      const { source, replica, connection } = await inStep(...all);
      connection.close();
      await eventually(() => expect(source.states()).toEqual([]));
      const changed = endpointsConfig('cart', 3001);
      const added = endpointsConfig('new', 3002);
      source.publish([changed], [route.key]);
      source.publish([added], []);
      connect(source, replica.sink);
      await eventually(() => expect(replica.held).toEqual(new Map([changed, added, listener].map((r) => [r.key, r]))));
      expect(replica.changes.map(keysOf)).toEqual([{ upserts: [changed.key, added.key], removals: [route.key] }]);
    });

    test('another source takes over: equal content is not sent again, whatever its ids', async () => {
      const { replica, connection } = await inStep(...all);
      connection.close();
      const successor = new ConfigurationSource();
      successor.publish(all, []);
      connect(successor, replica.sink);
      await eventually(() => expect(successor.states()[0]?.acknowledged).toBe(1));
      expect(replica.changes).toEqual([]);
      const id = successor.publish([], [route.key, listener.key]);
      await eventually(() => expect(successor.laggards(id)).toEqual([]));
      expect([...replica.held.keys()]).toEqual([endpoints.key]);
    });

    test('acknowledgements tell what did not work until it changes', async () => {
      const { source, replica } = await inStep(listener, endpoints);
      const other = listenerConfig('other');
      const heard: (readonly [number | undefined, readonly ConfigKey[]])[] = [];
      const stop = source.onAcknowledged(({ acknowledged, problems }) =>
        heard.push([acknowledged, [...problems.keys()]]),
      );
      replica.broken.add(other.key);
      const first = source.publish([other], []);
      const second = source.publish([endpointsConfig('cart', 1)], []);
      await eventually(() =>
        expect(heard).toEqual([
          [first, [other.key]],
          [second, [other.key]],
        ]),
      );
      expect(source.states().map(({ problems }) => problems)).toEqual([new Map([[other.key, 'port in use']])]);
      replica.broken.clear();
      const third = source.publish([{ ...other, port: 81 }], []);
      await eventually(() => expect(heard.at(-1)).toEqual([third, []]));
      stop();
      const last = source.publish([], [other.key]);
      await eventually(() => expect(source.laggards(last)).toEqual([]));
      expect(heard).toHaveLength(3);
    });

    test('a problem that a change of something else cures is gone', async () => {
      const { source, replica } = await inStep(endpoints);
      replica.broken.add(listener.key);
      const first = source.publish([listener], []);
      await eventually(() =>
        expect(source.states()[0]).toMatchObject({
          acknowledged: first,
          problems: new Map([[listener.key, 'port in use']]),
        }),
      );
      replica.broken.clear();
      const second = source.publish([route], []);
      await eventually(() => expect(source.states()[0]).toMatchObject({ acknowledged: second, problems: new Map() }));
    });

    test('a problem that comes without a change is told at once', async () => {
      const { source, replica } = await inStep(listener);
      replica.broken.add(listener.key);
      void replica.sink.refresh(async () => replica.problems());
      await eventually(() => expect(source.states()[0]?.problems).toEqual(new Map([[listener.key, 'port in use']])));
    });

    test('a slow proxy is a laggard, and gets one transaction after the other', async () => {
      const source = new ConfigurationSource();
      const steps: string[] = [];
      const gate = Promise.withResolvers<void>();
      const slow = new ConfigurationSink(async ({ upserts }) => {
        steps.push(`start ${upserts.length}`);
        if (upserts.some(({ key }) => key === listener.key)) await gate.promise;
        steps.push(`end ${upserts.length}`);
        return [];
      });
      const quick = new Replica();
      connect(source, slow);
      connect(source, quick.sink);
      await Promise.all([slow.synchronised, quick.sink.synchronised]);
      const first = source.publish([listener], []);
      const second = source.publish([endpoints, route], []);
      await eventually(() => expect(source.laggards(second)).toHaveLength(1));
      expect(source.laggards(first)).toHaveLength(1);
      expect(steps).toEqual(['start 1']);
      gate.resolve();
      await eventually(() => expect(source.laggards(second)).toEqual([]));
      expect(steps).toEqual(['start 1', 'end 1', 'start 2', 'end 2']);
    });

    test('a proxy that fails to apply reports it for every key, goes on, and gets it again when it comes back', async () => {
      const source = new ConfigurationSource();
      let failing = true;
      const seen: string[] = [];
      const sink = new ConfigurationSink(({ upserts, removals }) => {
        if (failing) throw new Error('out of memory');
        seen.push(...upserts.map(({ key }) => key), ...removals.map((key) => `-${key}`));
        return [];
      });
      source.publish([endpoints, listener], []);
      const connection = connect(source, sink);
      await eventually(() =>
        expect(source.states()[0]?.problems).toEqual(
          new Map([
            [endpoints.key, 'out of memory'],
            [listener.key, 'out of memory'],
          ]),
        ),
      );
      failing = false;
      const id = source.publish([route], [endpoints.key]);
      await eventually(() => expect(source.laggards(id)).toEqual([]));
      expect([...(source.states()[0]?.problems.keys() ?? [])]).toEqual([listener.key]);
      connection.close();
      connect(source, sink);
      await eventually(() => expect(source.states()[0]).toMatchObject({ acknowledged: id, problems: new Map() }));
      expect(seen).toEqual([route.key, `-${endpoints.key}`, listener.key]);
    });

    test('after any sequence of changes and breaks the proxy holds what the source holds', async () => {
      const step = fc.oneof(
        fc.record({
          upserts: fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 3 })), { maxLength: 3 }),
          removals: fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 2 }),
        }),
        fc.constant('reconnect' as const),
        fc.constant('wait' as const),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
          const source = new ConfigurationSource();
          const replica = new Replica();
          const expected = new Map<ConfigKey, ConfigResource>();
          let connection = connect(source, replica.sink);
          let id = 0;
          for (const step of steps) {
            if (step === 'wait') await replica.sink.synchronised;
            else if (step === 'reconnect') {
              connection.close();
              connection = connect(source, replica.sink);
            } else {
              const upserts = step.upserts.map(([name, port]) => endpointsConfig(name, port));
              const removals = step.removals.map((name) => endpointsConfig(name).key);
              id = source.publish(upserts, removals);
              for (const key of removals) expected.delete(key);
              for (const resource of upserts) expected.set(resource.key, resource);
            }
          }
          // The connection may still be on its way, or the one before it not yet gone.
          await eventually(() => expect(source.states()).toMatchObject([{ acknowledged: id }]));
          expect(replica.held).toEqual(expected);
          connection.close();
        }),
        { numRuns: 100 },
      );
    });
  });
}
