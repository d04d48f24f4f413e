import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { BundlesInForce } from '../../../src/cluster/bundles-in-force.ts';
import { admissionKinds, ClusterState, followCluster } from '../../../src/cluster/cluster-state.ts';
import { findingCounts } from '../../../src/core/admission/impact.ts';
import { readSettings } from '../../../src/core/admission/read-settings.ts';
import { defaultSettings, type Settings } from '../../../src/core/admission/settings.ts';
import { linkedFindings } from '../../../src/core/admission/stored.ts';
import { createEvaluation } from '../../../src/core/evaluation.ts';
import { recordOf } from '../../../src/core/text/record.ts';
import {
  customResourceDefinitions,
  mergePatch,
  pathOf,
  remove,
  type KubernetesObject,
  type ResourceType,
} from '../../../src/kubernetes/index.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { EvaluationQueue } from '../../../src/time/evaluation-queue.ts';
import { createMetrics } from '../../../src/telemetry/index.ts';
import { Auditor } from '../../../src/webhook/audit/auditor.ts';
import { reportApis, reportName, type ReportApi } from '../../../src/webhook/audit/report.ts';
import { defineKind } from '../../support/definitions.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { reportDefinitions } from '../../support/report-definitions.ts';

const [open, legacy] = reportApis as readonly [ReportApi, ReportApi];
const group = 'gateway.networking.k8s.io';
const routes: ResourceType = { apiVersion: `${group}/v1`, kind: 'HTTPRoute', plural: 'httproutes', namespaced: true };
const classes: ResourceType = {
  apiVersion: `${group}/v1`,
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  namespaced: false,
};
const namespaces: ResourceType = { apiVersion: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const services: ResourceType = { apiVersion: 'v1', kind: 'Service', plural: 'services', namespaced: true };

let stage: KubernetesStage;
let settings: Settings;
let day: string;
/** Milliseconds that the clock is ahead. */
let ahead: number;
/** Milliseconds of a clock that stands still. `undefined`: it runs. */
let frozen: number | undefined;
/** Called when an object is judged. */
let onJudgement: () => void;
let stops: (() => Promise<void>)[];

beforeEach(async () => {
  stage = await kubernetesStage();
  settings = defaultSettings;
  day = '2026-11-23';
  ahead = 0;
  frozen = undefined;
  onJudgement = () => {};
  stops = [];
  for (const kind of ['GatewayClass', 'Gateway', 'HTTPRoute'] as const) defineKind(stage, kind, 'v1');
  for (const name of ['shop', 'other']) seed(stage, namespaces, { kind: 'Namespace', metadata: { name } });
});
afterEach(async () => {
  for (const stop of stops.toReversed()) await stop();
  await stage.close();
});

function install(api: ReportApi): void {
  for (const definition of reportDefinitions(api))
    seed(stage, customResourceDefinitions, {
      ...definition,
      status: { conditions: [{ type: 'Established', status: 'True' }] },
    });
}

/** A route with an invalid duration, and one with a backend that does not exist. */
function seedRoute(name: string, namespace = 'shop', annotations: Readonly<Record<string, string>> = {}): void {
  seed(stage, routes, {
    kind: 'HTTPRoute',
    metadata: { name, namespace, annotations },
    spec: { rules: [{ matches: [{ path: { value: `/${name}` } }], timeouts: { request: '1.5s' } }] },
  });
}

/** Begins the audit as the webhook does when it becomes the leader. */
function begin() {
  const metrics = createMetrics();
  const { client, log } = stage;
  const kernel = createEvaluation([findingCounts, linkedFindings]);
  const evaluation = new EvaluationQueue(kernel);
  const inForce = new BundlesInForce({ log, metrics });
  const auditor = new Auditor({
    client,
    clock: {
      ...systemClock,
      now: () => (frozen ?? systemClock.now()) + ahead,
      random: () => 0,
      date: () => {
        onJudgement();
        return new Date(Date.parse(`${day}T12:00:00Z`));
      },
    },
    log,
    metrics,
    kernel,
    readable: () => evaluation.readable,
    settings: () => settings,
    bundleOf: (one, resource) => inForce.bundleOf(one, resource),
    ready: () => state.problems().length === 0,
    today: () => day,
    interval: 5,
  });
  const state = new ClusterState({
    evaluation,
    kinds: admissionKinds,
    controllerName: 'sallyport.dev/gateway-controller',
    follow: followCluster(client, log),
    onInstalled(installed) {
      inForce.update(installed);
      auditor.reconsiderAll();
    },
    onChange: (events, delta) => auditor.observe(events, delta),
  });
  const rounds = auditor.start();
  const stop = async (): Promise<void> => {
    await rounds.stop();
    await state.stop();
  };
  stops.push(stop);
  return { metrics, stop };
}

function stored(api: ReportApi, namespace: string): KubernetesObject | undefined {
  const { apiVersion, plural } = namespace === '' ? api.cluster : api.namespaced;
  return stage.server.store.get(`${plural}.${apiVersion.split('/')[0]}`, namespace, reportName);
}

/** `result rule kind/name` of each result. */
function lines(report: KubernetesObject | undefined): readonly string[] {
  return ((report?.['results'] ?? []) as readonly Readonly<Record<string, unknown>>[]).map(
    ({ result, rule, resources }) => {
      const { kind, name } = recordOf((resources as readonly unknown[])[0]);
      return `${String(result)} ${String(rule)} ${String(kind)}/${String(name)}`;
    },
  );
}

function writes(): readonly string[] {
  return stage.server.audit
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path }) => `${method} ${path.split('/').slice(-4, -2).join('/')}`);
}

const invalid = 'fail duration-form HTTPRoute/';

describe('the continuous audit', () => {
  test('writes one report for each namespace, and one for the cluster, and writes nothing again', async () => {
    install(open);
    seedRoute('cart');
    seedRoute('about', 'other');
    seed(stage, classes, { kind: 'GatewayClass', metadata: { name: 'odd' }, spec: { controllerName: 'no-slash' } });
    const { metrics, stop } = begin();
    await eventually(() => {
      expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`);
      expect(lines(stored(open, 'other'))).toContain(`${invalid}about`);
      expect(lines(stored(open, ''))).toContain('warn schema GatewayClass/odd');
    });
    expect(stored(open, 'shop')).toMatchObject({
      source: 'sallyport',
      results: expect.arrayContaining([
        expect.objectContaining({ timestamp: { seconds: Date.parse('2026-11-23T12:00:00Z') / 1000, nanos: 0 } }),
      ]),
    });
    expect(writes()).toHaveLength(3);
    expect(await metrics.scrape()).toContain(
      'sallyport_audit_findings{rule="duration-form",namespace="shop",result="fail"} 1',
    );
    await eventually(async () =>
      expect(await metrics.scrape()).toContain('sallyport_audit_report_writes_total{result="ok"} 3'),
    );
    // A new leader writes nothing that is stored already, and keeps the times.
    await stop();
    expect(await metrics.scrape()).not.toContain('sallyport_audit_findings{');
    day = '2026-11-24';
    seedRoute('newer', 'other');
    begin();
    await eventually(() => expect(lines(stored(open, 'other'))).toContain(`${invalid}newer`));
    expect(writes()).toHaveLength(4);
    const times = ((stored(open, 'other')?.['results'] ?? []) as readonly { timestamp: { seconds: number } }[]).map(
      ({ timestamp }) => new Date(timestamp.seconds * 1000).toISOString().slice(0, 10),
    );
    expect(new Set(times)).toEqual(new Set(['2026-11-23', '2026-11-24']));
  });

  test('a change of an object changes only the report of its namespace, and its deletion removes the report', async () => {
    install(open);
    seedRoute('cart');
    seedRoute('about', 'other');
    begin();
    await eventually(() => expect(lines(stored(open, 'other'))).not.toEqual([]));
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toEqual([]));
    const { length } = writes();
    await mergePatch(
      { client: stage.client, type: routes },
      { namespace: 'shop', name: 'cart' },
      { spec: { rules: [{ timeouts: { request: '1500ms' } }] } },
    );
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toContain(`${invalid}cart`));
    await remove({ client: stage.client, type: routes }, { namespace: 'shop', name: 'cart' });
    await eventually(() => expect(stored(open, 'shop')).toBeUndefined());
    expect(
      stage.server.audit
        .filter(({ method, path }) => method !== 'GET' && path.includes('/reports/'))
        .slice(length)
        .every(({ path }) => path.includes('/namespaces/shop/')),
    ).toBe(true);
    expect(lines(stored(open, 'other'))).toContain(`${invalid}about`);
  });

  test('findings that other objects cause appear and go with those', async () => {
    install(open);
    seed(stage, routes, {
      kind: 'HTTPRoute',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { rules: [{ backendRefs: [{ name: 'cart', port: 80 }] }] },
    });
    begin();
    const missing = 'warn backend-not-found HTTPRoute/cart';
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(missing));
    seed(stage, services, {
      kind: 'Service',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { ports: [{ port: 80 }] },
    });
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toContain(missing));
  });

  test('settings, labels of namespaces and exemptions decide', async () => {
    install(open);
    const read = readSettings({ profileLabel: 'honor', exemptions: { annotations: 'permit' } });
    if (!read.ok) throw new Error('invalid settings');
    settings = read.settings;
    seedRoute('cart');
    seedRoute('exempt', 'other', {
      'sallyport.dev/exempt': 'moves soon',
      'sallyport.dev/exempt-until': '2026-11-23',
    });
    begin();
    await eventually(() => {
      expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`);
      expect(lines(stored(open, 'other'))).toContain('skip duration-form HTTPRoute/exempt');
    });
    await mergePatch(
      { client: stage.client, type: namespaces },
      { name: 'shop' },
      { metadata: { labels: { 'sallyport.dev/profile': 'audit' } } },
    );
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain('warn duration-form HTTPRoute/cart'));
    day = '2026-11-24';
    await eventually(() =>
      expect(lines(stored(open, 'other'))).toEqual(
        expect.arrayContaining([`${invalid}exempt`, 'warn exemption HTTPRoute/exempt']),
      ),
    );
    settings = { ...settings, exemptions: { ...settings.exemptions, namespaces: ['other'] } };
    await eventually(() => expect(stored(open, 'other')).toBeUndefined());
  });

  test('a bundle of the settings overrides that of the CRD', async () => {
    install(open);
    seed(stage, routes, {
      kind: 'HTTPRoute',
      metadata: { name: 'named', namespace: 'shop' },
      spec: { rules: [{ name: 'all' }] },
    });
    const override = (bundle: string): void => {
      const read = readSettings({ bundleOverrides: [{ kinds: ['HTTPRoute'], bundle, channel: 'standard' }] });
      if (!read.ok) throw new Error('invalid settings');
      settings = read.settings;
    };
    override('v1.0');
    begin();
    const pruned = 'warn schema-unknown-field HTTPRoute/named';
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(pruned));
    override('v1.7');
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toContain(pruned));
  });

  test('uses the older API without OpenReports, and none without either; an API that appears is used', async () => {
    seedRoute('cart');
    const { metrics } = begin();
    await eventually(async () =>
      expect(await metrics.scrape()).toContain('sallyport_audit_findings{rule="duration-form",namespace="shop"'),
    );
    expect(writes()).toEqual([]);
    install(legacy);
    ahead += 60_000;
    await eventually(() => expect(lines(stored(legacy, 'shop'))).toContain(`${invalid}cart`));
    install(open);
    ahead += 60_000;
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`));
    await eventually(() => expect(stored(legacy, 'shop')).toBeUndefined());
  });

  test('repairs reports that others deleted, and deletes those of namespaces without findings', async () => {
    install(open);
    seedRoute('cart');
    begin();
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toEqual([]));
    const { labels } = stored(open, 'shop')?.metadata ?? {};
    await remove({ client: stage.client, type: open.namespaced }, { namespace: 'shop', name: reportName });
    seed(stage, open.namespaced, {
      kind: 'Report',
      metadata: { name: reportName, namespace: 'gone', ...(labels && { labels }) },
    });
    const foreign = { name: 'kyverno', namespace: 'gone' };
    seed(stage, open.namespaced, { kind: 'Report', metadata: foreign });
    ahead += 3_600_000;
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toEqual([]));
    await eventually(() => expect(stored(open, 'gone')).toBeUndefined());
    expect(stage.server.store.get('reports.openreports.io', 'gone', 'kyverno')).toBeDefined();
  });

  test('reports that cannot be listed yet are listed again', async () => {
    install(open);
    seedRoute('cart');
    stage.server.fail({
      when: ({ method, path }) => method === 'GET' && path.endsWith('/reports'),
      act: { code: 403, reason: 'Forbidden' },
    });
    begin();
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`));
    expect(stage.logged.some((line) => line.includes('cannot audit stored objects, will retry'))).toBe(true);
  });

  test('a write that fails is repeated', async () => {
    install(open);
    seedRoute('cart');
    stage.server.fail({
      when: ({ method }) => method === 'PATCH',
      act: { code: 403, reason: 'Forbidden' },
    });
    const { metrics } = begin();
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`));
    expect(await metrics.scrape()).toContain('sallyport_audit_report_writes_total{result="forbidden"} 1');
    expect(stage.logged.some((line) => line.includes('cannot write a report'))).toBe(true);
  });

  test('a write that fails again and again is repeated with growing delays, without delaying other reports', async () => {
    install(open);
    seedRoute('cart');
    const isWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
      method === 'PATCH' && path.includes('/namespaces/shop/');
    for (let count = 0; count < 3; count += 1)
      stage.server.fail({ when: isWrite, act: { code: 403, reason: 'Forbidden' } });
    const attempts = (): number => stage.server.audit.filter(isWrite).length;
    let rounds = 0;
    /** Each change of another namespace is written by another round. */
    const fewRounds = async (): Promise<void> => {
      for (const end = rounds + 3; rounds < end; rounds += 1) {
        seedRoute(`about-${rounds}`, 'other');
        await eventually(() => expect(lines(stored(open, 'other'))).toContain(`${invalid}about-${rounds}`));
      }
    };
    frozen = systemClock.now();
    begin();
    await eventually(() => expect(attempts()).toBe(1));
    for (const [elapsed, expected] of [
      [0, 1],
      [3, 2],
      [4, 2],
      [1, 3],
      [9, 3],
    ] as const) {
      ahead += elapsed;
      await fewRounds();
      expect(attempts()).toBe(expected);
    }
    ahead += 1;
    await eventually(() => expect(lines(stored(open, 'shop'))).toContain(`${invalid}cart`));
  });

  test('many small objects together do not keep the event loop: it turns when a slice of 10 ms is used up', async () => {
    install(open);
    for (let index = 0; index < 40; index += 1) seedRoute(`route-${index}`);
    let turn = 0;
    const nextTurn = (): void => {
      turn += 1;
      others = setImmediate(nextTurn);
    };
    let others = setImmediate(nextTurn);
    stops.push(async () => clearImmediate(others));
    /** Turn of the event loop → objects judged in it. */
    const judged = new Map<number, number>();
    onJudgement = () => {
      ahead += 6;
      judged.set(turn, (judged.get(turn) ?? 0) + 1);
    };
    begin();
    await eventually(() => expect(lines(stored(open, 'shop')).length).toBeGreaterThanOrEqual(40));
    expect(Math.max(...judged.values())).toBeLessThanOrEqual(2);
  });

  test('a namespace with many objects that change all the time does not delay the reports of others', async () => {
    install(open);
    for (let index = 0; index < 40; index += 1) seedRoute(`route-${index}`);
    seedRoute('about', 'other');
    let late = 0;
    let changes = 0;
    onJudgement = () => {
      if (stored(open, 'other') === undefined) late += 1;
      ahead += 6;
      changes += 1;
      seedRoute(`new-${changes}`);
    };
    begin();
    await eventually(() => expect(lines(stored(open, 'shop')).length).toBeGreaterThanOrEqual(40));
    expect(lines(stored(open, 'other'))).toContain(`${invalid}about`);
    expect(late).toBeLessThan(10);
  });

  test('a report keeps the results of an earlier term until each object has been judged', async () => {
    install(open);
    for (let index = 0; index < 20; index += 1) seedRoute(`route-${index}`);
    const { stop } = begin();
    await eventually(() => expect(lines(stored(open, 'shop')).length).toBeGreaterThanOrEqual(20));
    await stop();
    const { length } = writes();
    day = '2026-11-24';
    let judged = 0;
    onJudgement = () => {
      ahead += 6;
      judged += 1;
    };
    begin();
    await eventually(() => expect(judged).toBeGreaterThanOrEqual(20));
    seedRoute('about', 'other');
    await eventually(() => expect(lines(stored(open, 'other'))).toContain(`${invalid}about`));
    expect(writes().slice(length)).toEqual(['PATCH namespaces/other']);
  });

  test('writes no Events, and only reports', async () => {
    install(open);
    seedRoute('cart');
    begin();
    await eventually(() => expect(lines(stored(open, 'shop'))).not.toEqual([]));
    const paths = stage.server.audit.filter(({ method }) => method !== 'GET').map(({ path }) => path);
    expect(paths).toEqual([pathOf(open.namespaced, { namespace: 'shop', name: reportName })]);
  });
});
