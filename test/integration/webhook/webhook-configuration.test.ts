import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { splitPem } from '../../../src/certificates/index.ts';
import { ClusterSecretStore } from '../../../src/cluster/secret-store.ts';
import { ClusterBundleStore } from '../../../src/webhook/configuration/bundle-store.ts';
import { EndpointWatch } from '../../../src/webhook/configuration/endpoint-watch.ts';
import { FailurePolicyKeeper } from '../../../src/webhook/configuration/failure-policy-keeper.ts';
import { probeDenial } from '../../../src/webhook/configuration/probe.ts';
import { WarningConfiguration } from '../../../src/webhook/configuration/warning-configuration.ts';
import { Watchdog, type WatchdogOptions } from '../../../src/webhook/configuration/watchdog.ts';
import {
  applyFailurePolicy,
  readWebhookConfiguration,
  webhookConfigurations,
} from '../../../src/webhook/configuration/webhook-configuration.ts';
import type { FailurePolicy } from '../../../src/core/admission/settings.ts';
import { mergePatch, remove, type ApiClient, type EventNote } from '../../../src/kubernetes/index.ts';
import { createMetrics, type Metrics } from '../../../src/telemetry/index.ts';
import { bundleStoreContract, secretStoreContract } from '../../contract/certificate-stores.ts';
import { until } from '../../support/until.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const name = 'hooks';

async function stageWithConfiguration(failurePolicy: FailurePolicy): Promise<KubernetesStage> {
  const stage = await kubernetesStage();
  const service = { namespace: 'gates', name: 'hook' };
  seed(stage, webhookConfigurations, {
    metadata: { name },
    webhooks: [{ name: 'validate.test', clientConfig: { service }, failurePolicy }],
  });
  return stage;
}

secretStoreContract('a fake API server', async () => {
  const stage = await kubernetesStage();
  return {
    store: new ClusterSecretStore(stage, { namespace: 'default', name: 'authority' }),
    close: () => stage.close(),
  };
});

bundleStoreContract('a fake API server', async () => {
  const stage = await stageWithConfiguration('Ignore');
  const writer = { client: stage.client, type: webhookConfigurations };
  let touches = 0;
  const certificate = (body: string): string =>
    splitPem(`-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`)[0] ?? '';
  return {
    store: new ClusterBundleStore(stage, name),
    touch: async () =>
      void (await mergePatch(writer, { name }, { metadata: { annotations: { touched: String(touches++) } } })),
    remove: async () => void (await remove(writer, { name })),
    close: () => stage.close(),
    certificates: [certificate('AAAA'), certificate('BBBB')],
  };
});

test('the writer of the failurePolicy and that of the authorities keep the fields of each other', async () => {
  const stage = await stageWithConfiguration('Fail');
  const read = async () => (await readWebhookConfiguration(stage.client, name)) ?? { webhooks: [] };
  const store = new ClusterBundleStore(stage, name);
  const before = await readWebhookConfiguration(stage.client, name);
  if (before !== undefined) await applyFailurePolicy(stage.client, before, 'Ignore');
  const pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
  await store.publish([pem], (await store.read())?.version ?? '');
  const [webhook, ...others] = (await read()).webhooks;
  expect(others).toEqual([]);
  expect(webhook).toMatchObject({ failurePolicy: 'Ignore', service: { namespace: 'gates', name: 'hook' } });
  expect(webhook?.trusted).toHaveLength(1);
  await stage.close();
});

describe('what looks after the failurePolicy', () => {
  let stage: KubernetesStage;
  let metrics: Metrics;
  let events: EventNote[];

  beforeEach(() => {
    metrics = createMetrics();
    events = [];
  });

  afterEach(() => stage.close());

  const failurePolicy = async (): Promise<FailurePolicy | undefined> =>
    (await readWebhookConfiguration(stage.client, name))?.webhooks[0]?.failurePolicy;
  const record = (note: EventNote): void => void events.push(note);

  /** The next probe is answered like this; without it, GatewayClasses are not served here. */
  function answerProbe(answer: 'denied' | 'failed'): void {
    const message =
      answer === 'denied'
        ? probeDenial.message
        : 'Internal error occurred: failed calling webhook "validate.test": connection refused';
    const code = answer === 'denied' ? 422 : 500;
    stage.server.fail({
      when: ({ path }) => path.endsWith('/gatewayclasses'),
      act: { code, body: JSON.stringify({ kind: 'Status', message }) },
    });
  }

  function keeper(wanted: FailurePolicy): FailurePolicyKeeper {
    return new FailurePolicyKeeper({
      client: stage.client,
      log: stage.log,
      metrics,
      events: { record },
      configuration: name,
      wanted: () => wanted,
      interval: 1_000,
    });
  }

  async function probes(under: FailurePolicyKeeper, ...answers: readonly ('denied' | 'failed')[]): Promise<void> {
    for (const answer of answers) {
      answerProbe(answer);
      await under.round();
    }
  }

  test('sets Fail after three proofs, and says so', async () => {
    stage = await stageWithConfiguration('Ignore');
    const keeping = keeper('Fail');
    await probes(keeping, 'denied', 'denied');
    expect(await failurePolicy()).toBe('Ignore');
    expect(await metrics.scrape()).toContain(
      'sallyport_webhook_failure_policy_changes_total{to="Ignore",reason="Unreachable"} 0',
    );
    await probes(keeping, 'denied');
    expect(await failurePolicy()).toBe('Fail');
    expect(events).toEqual([
      expect.objectContaining({
        type: 'Normal',
        reason: 'FailurePolicyFail',
        regarding: expect.objectContaining({ name }),
      }),
    ]);
    const scraped = await metrics.scrape();
    expect(scraped).toContain('sallyport_webhook_probes_total{outcome="denied"} 3');
    expect(scraped).toContain('sallyport_webhook_failure_policy{policy="Fail"} 1');
    expect(scraped).toContain('sallyport_webhook_failure_policy_changes_total{to="Fail",reason="Proven"} 1');
  });

  test('goes back to Ignore after three failures, with a warning', async () => {
    stage = await stageWithConfiguration('Fail');
    await probes(keeper('Fail'), 'failed', 'failed', 'failed');
    expect(await failurePolicy()).toBe('Ignore');
    expect(events).toEqual([
      expect.objectContaining({ type: 'Warning', reason: 'FailurePolicyIgnore', action: 'Unreachable' }),
    ]);
  });

  test('changes nothing while GatewayClass is not served', async () => {
    stage = await stageWithConfiguration('Fail');
    const keeping = keeper('Fail');
    for (let round = 0; round < 5; round++) expect(await keeping.round()).toBe(1_000);
    expect(await failurePolicy()).toBe('Fail');
  });

  test('looks more often while something is due', async () => {
    stage = await stageWithConfiguration('Ignore');
    expect(await keeper('Fail').round()).toBe(200);
  });

  test('sets Ignore at once where the settings ask for it', async () => {
    stage = await stageWithConfiguration('Fail');
    await keeper('Ignore').round();
    expect(await failurePolicy()).toBe('Ignore');
    expect(events).toEqual([expect.objectContaining({ type: 'Normal', action: 'NotWanted' })]);
  });

  test('leaves the write to the next round where somebody was quicker', async () => {
    stage = await stageWithConfiguration('Fail');
    const keeping = keeper('Ignore');
    stage.server.fail({ when: ({ method }) => method === 'PATCH', act: { code: 409, reason: 'Conflict' } });
    await keeping.round();
    expect(await failurePolicy()).toBe('Fail');
    expect(events).toEqual([]);
    await keeping.round();
    expect(await failurePolicy()).toBe('Ignore');
  });

  test('waits for a configuration', async () => {
    stage = await kubernetesStage();
    expect(await keeper('Fail').round()).toBe(1_000);
    expect(await metrics.scrape()).not.toContain('sallyport_webhook_failure_policy{');
  });

  describe('the watchdog', () => {
    const endpointSlices = {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      plural: 'endpointslices',
      namespaced: true,
    };
    let now: number;

    const service = { namespace: 'gates', name: 'hook' };

    function watchdog(watch?: WatchdogOptions['watch']): Watchdog {
      now = 0;
      return new Watchdog({
        ...(watch && { watch }),
        client: stage.client,
        log: stage.log,
        metrics,
        events: { record },
        configuration: name,
        service,
        patience: 5_000,
        now: () => now,
      });
    }

    function seedEndpoint(ready: boolean): void {
      const metadata = { name: 'hook-1', namespace: 'gates', labels: { 'kubernetes.io/service-name': 'hook' } };
      seed(stage, endpointSlices, { metadata, endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready } }] });
    }

    test('sets Ignore when no pod was ready for as long as it waits', async () => {
      stage = await stageWithConfiguration('Fail');
      seedEndpoint(false);
      const watching = watchdog();
      await watching.round();
      now = 4_999;
      await watching.round();
      expect(await failurePolicy()).toBe('Fail');
      now = 5_000;
      await watching.round();
      expect(await failurePolicy()).toBe('Ignore');
      expect(events).toEqual([expect.objectContaining({ type: 'Warning', action: 'Released' })]);
      expect(await metrics.scrape()).toContain('sallyport_watchdog_released_total 1');
    });

    test.each([
      {},
      null,
      [],
      { metadata: { resourceVersion: '1' } },
      { metadata: { resourceVersion: '1' }, items: {} },
    ])('does not take %j for the absence of pods', async (answer) => {
      stage = await stageWithConfiguration('Fail');
      const watching = watchdog();
      const answering = jest
        .spyOn(stage.client, 'request')
        .mockImplementation(({ path }) =>
          path.includes('endpointslices') ? Promise.resolve(answer) : Promise.reject(new Error('not expected')),
        );
      try {
        await expect(watching.round()).rejects.toThrow('not a valid list');
        expect(watching.problems()).not.toEqual([]);
      } finally {
        answering.mockRestore();
      }
    });

    // Whoever may create EndpointSlices in the namespace of the webhook decides how many there are.
    test('reads its EndpointSlices page by page', async () => {
      stage = await stageWithConfiguration('Fail');
      const pages = Array.from({ length: 3 }, (_, page) => ({
        metadata: { resourceVersion: '1', ...(page < 2 && { continue: `${page + 1}` }) },
        items: [{ metadata: { name: `hook-${page}` }, endpoints: [{ conditions: { ready: page > 0 } }] }],
      }));
      const request = stage.client.request.bind(stage.client);
      const limits: unknown[] = [];
      const answering = jest.spyOn(stage.client, 'request').mockImplementation(async (asked) => {
        if (!asked.path.includes('endpointslices')) return request(asked);
        limits.push(asked.query?.['limit']);
        return pages[Number(asked.query?.['continue'] ?? 0)];
      });
      try {
        await watchdog().round();
        expect(limits).toEqual([500, 500, 500]);
        expect(await metrics.scrape()).toContain('sallyport_watchdog_ready_endpoints 2');
      } finally {
        answering.mockRestore();
      }
    });

    function replaceEndpoints(endpoints: readonly object[]): void {
      const object = stage.server.store.get('endpointslices.discovery.k8s.io', 'gates', 'hook-1');
      if (object === undefined) throw new Error('no EndpointSlice');
      stage.server.store.replace('endpointslices.discovery.k8s.io', object, { ...object, endpoints });
    }

    describe('with a watch of the endpoints', () => {
      let watch: EndpointWatch;
      let clock: ManualClock;

      beforeEach(() => {
        clock = new ManualClock();
      });

      async function watching(): Promise<Watchdog> {
        stage = await stageWithConfiguration('Fail');
        seedEndpoint(true);
        watch = watchThrough(stage.client);
        await until(() => expect([watch.isLive, stage.server.watches.count]).toEqual([true, 1]));
        return watchdog(watch);
      }

      function watchThrough(client: ApiClient): EndpointWatch {
        return new EndpointWatch({ client, log: stage.log, clock }, service);
      }

      const reads = (): number =>
        stage.server.audit.filter(({ path, query }) => path.endsWith('/endpointslices') && query['watch'] === undefined)
          .length;

      afterEach(() => watch.stop());

      test('reads them every five seconds while a pod is ready and nothing changes', async () => {
        const watched = await watching();
        const before = reads();
        for (now = 0; now < 20_000; now += 1_000) await watched.round();
        expect(reads() - before).toBe(4);
        expect(watched.problems()).toEqual([]);
      });

      test('reads them at once after a change, and every second while no pod is ready', async () => {
        const watched = await watching();
        await watched.round();
        const before = reads();
        const rounds = watched.start();
        replaceEndpoints([]);
        await until(() => expect(reads()).toBeGreaterThan(before));
        await rounds.stop();
        now = 1_000;
        await watched.round();
        now = 5_000;
        await watched.round();
        expect(await failurePolicy()).toBe('Ignore');
      });

      test('sets Ignore within ten seconds if the watch no longer notices changes', async () => {
        stage = await stageWithConfiguration('Fail');
        seedEndpoint(true);
        watch = watchThrough(stage.client);
        const deaf = watchdog({ isLive: true, onChange: () => () => undefined });
        await deaf.round();
        replaceEndpoints([]);
        for (now = 1_000; now < 10_000; now += 1_000) await deaf.round();
        expect(await failurePolicy()).toBe('Fail');
        await deaf.round();
        expect(await failurePolicy()).toBe('Ignore');
      });

      test('reads them in each round while the watch is cut, and notices changes again afterwards', async () => {
        const watched = await watching();
        await watched.round();
        const before = reads();
        stage.server.watches.cut();
        await until(() => expect([watch.isLive, clock.waiting]).toEqual([false, 1]));
        now = 1_000;
        await watched.round();
        expect(reads() - before).toBe(1);
        clock.advance(1_000);
        await until(() => expect([watch.isLive, stage.server.watches.count]).toEqual([true, 1]));
        let changes = 0;
        watch.onChange(() => (changes += 1));
        replaceEndpoints([]);
        await until(() => expect(changes).toBe(1));
      });

      test('reads them in each round while the watch fails', async () => {
        stage = await stageWithConfiguration('Fail');
        seedEndpoint(true);
        watch = watchThrough({ ...stage.client, request: () => Promise.reject(new Error('refused')) });
        const before = reads();
        const blind = watchdog(watch);
        for (now = 0; now < 3_000; now += 1_000) await blind.round();
        expect(watch.isLive).toBe(false);
        expect(reads() - before).toBe(3);
      });
    });

    test('leaves the write to the next round after a conflict', async () => {
      stage = await stageWithConfiguration('Fail');
      seedEndpoint(false);
      const watching = watchdog();
      await watching.round();
      now = 5_000;
      stage.server.fail({ when: ({ method }) => method === 'PATCH', act: { code: 409, reason: 'Conflict' } });
      await watching.round();
      expect(await failurePolicy()).toBe('Fail');
      expect(events).toEqual([]);
      expect(await metrics.scrape()).toContain('sallyport_watchdog_released_total 0');
      await watching.round();
      expect(await failurePolicy()).toBe('Ignore');
    });

    test('leaves a healthy webhook alone, and Ignore as it is', async () => {
      stage = await stageWithConfiguration('Fail');
      seedEndpoint(true);
      const watching = watchdog();
      for (now = 0; now < 60_000; now += 10_000) await watching.round();
      expect(await failurePolicy()).toBe('Fail');
      expect(stage.server.audit.map(({ method }) => method)).not.toContain('PATCH');
    });

    test('reads the configuration every ten seconds while a pod is ready, and at once when none is', async () => {
      stage = await stageWithConfiguration('Fail');
      seedEndpoint(true);
      const watching = watchdog();
      const reads = (): number =>
        stage.server.audit.filter(({ method, path }) => method === 'GET' && path.endsWith(`/${name}`)).length;
      const before = reads();
      for (now = 0; now < 20_000; now += 1_000) await watching.round();
      expect(reads() - before).toBe(2);
      const path = '/apis/discovery.k8s.io/v1/namespaces/gates/endpointslices/hook-1';
      await stage.client.request({ method: 'DELETE', path });
      await watching.round();
      await watching.round();
      expect(reads() - before).toBe(4);
    });

    test('concludes nothing from what it cannot see, and is not ready then', async () => {
      stage = await stageWithConfiguration('Fail');
      seedEndpoint(false);
      const watching = watchdog();
      expect(watching.problems()).toHaveLength(1);
      await watching.round();
      expect(watching.problems()).toEqual([]);
      now = 40_000;
      stage.server.fail({ when: ({ path }) => path.endsWith('/endpointslices'), act: { code: 403 } });
      await expect(watching.round()).rejects.toThrow('injected');
      expect(await failurePolicy()).toBe('Fail');
      expect(watching.problems()).toEqual(['no endpoints of the webhook observed for 40 s']);
    });
  });
});

describe('the configuration for warnings', () => {
  const pem = (body: string): string => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`;
  const encoded = (...bodies: readonly string[]): string => Buffer.from(bodies.map(pem).join('')).toString('base64');
  let stage: KubernetesStage;

  beforeEach(async () => {
    stage = await kubernetesStage();
  });

  afterEach(() => stage.close());

  const put = (configuration: string, caBundle: string, failurePolicy = 'Ignore'): void => {
    const webhooks = ['one.test', 'other.test'].map((webhook) => ({
      name: webhook,
      clientConfig: caBundle === '' ? {} : { caBundle },
      failurePolicy,
      timeoutSeconds: 1,
    }));
    seed(stage, webhookConfigurations, { metadata: { name: configuration }, webhooks });
  };
  const keeper = () => {
    const { client, log } = stage;
    const bundles = new ClusterBundleStore({ client, log }, name);
    return new WarningConfiguration({ client, log, bundles, configuration: 'warnings', interval: 100 });
  };
  const seen = async (): Promise<unknown> => {
    const { webhooks = [] } = (await readWebhookConfiguration(stage.client, 'warnings')) ?? {};
    return webhooks.map(({ trusted, failurePolicy }) => [trusted.length, failurePolicy]);
  };

  test('trusts what the validating one trusts, and only ever warns', async () => {
    put(name, encoded('AAAA', 'BBBB'), 'Fail');
    put('warnings', '', 'Fail');
    await keeper().round();
    expect(await seen()).toEqual([
      [2, 'Ignore'],
      [2, 'Ignore'],
    ]);
  });

  test('is left alone if nothing differs, and if one of them is not found', async () => {
    await keeper().round();
    put('warnings', encoded('AAAA'));
    const before = await readWebhookConfiguration(stage.client, 'warnings');
    await keeper().round();
    put(name, '');
    await keeper().round();
    await mergePatch(
      { client: stage.client, type: webhookConfigurations },
      { name },
      { webhooks: [{ name: 'one.test', clientConfig: { caBundle: encoded('AAAA') } }] },
    );
    await keeper().round();
    expect(await readWebhookConfiguration(stage.client, 'warnings')).toEqual(before);
  });

  test('follows a rotation', async () => {
    put(name, encoded('AAAA'));
    put('warnings', '');
    const rounds = keeper().start();
    try {
      await until(async () =>
        expect(await seen()).toEqual([
          [1, 'Ignore'],
          [1, 'Ignore'],
        ]),
      );
      await mergePatch(
        { client: stage.client, type: webhookConfigurations },
        { name },
        { webhooks: [{ name: 'one.test', clientConfig: { caBundle: encoded('AAAA', 'BBBB') } }] },
      );
      await until(async () =>
        expect(await seen()).toEqual([
          [2, 'Ignore'],
          [2, 'Ignore'],
        ]),
      );
    } finally {
      await rounds.stop();
    }
  });
});
