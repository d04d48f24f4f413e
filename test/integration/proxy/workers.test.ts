import { afterEach, describe, expect, test } from '@jest/globals';
import type { ConfigResource } from '../../../src/core/routing/config.ts';
import type { ProxyOptions } from '../../../src/proxy/proxy.ts';
import type { ProxyWorkers } from '../../../src/proxy/workers/pool.ts';
import { closeBackends, startEcho } from '../../support/backends.ts';
import { endpointsConfig } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { portOf, routeTo, send, web } from '../../support/proxy.ts';
import { createWorkersUnderTest } from '../../support/proxy-workers.ts';

const running = new Set<ProxyWorkers>();

afterEach(async () => {
  await Promise.all([...running].map((proxy) => proxy.close({ graceMs: 0 })));
  running.clear();
});
afterEach(closeBackends);

async function start(resources: readonly ConfigResource[], options: Partial<ProxyOptions> = {}) {
  const ended: unknown[] = [];
  const faults: unknown[] = [];
  const proxy = createWorkersUnderTest(
    {
      bind: () => [{ host: '127.0.0.1', port: 0 }],
      certificates: () => undefined,
      onFault: (error) => faults.push(error),
      ...options,
    },
    { onWorkerEnd: (worker) => ended.push(worker), pace: { pause: 1 } },
  );
  running.add(proxy);
  const problems = await proxy.apply({ upserts: [web, ...resources], removals: [] });
  return {
    proxy,
    problems,
    ended,
    faults,
    port: portOf(proxy),
    apply: (...upserts: readonly ConfigResource[]) => proxy.apply({ upserts, removals: [] }),
  };
}

describe('a data plane with two workers', () => {
  test('serves requests, and counts them in sum', async () => {
    const { port, proxy, problems } = await start([endpointsConfig('app', (await startEcho()).port), routeTo('app')]);
    expect(problems).toEqual([]);
    const answers = await Promise.all(Array.from({ length: 40 }, () => send(port, '/')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await eventually(() =>
      expect(proxy.counters()).toMatchObject({ connections: 40, requests: 40, openConnections: 0, openRequests: 0 }),
    );
    expect(proxy.counters().responses['2xx']).toBe(40);
  });
});
