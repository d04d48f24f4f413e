import { afterEach, describe, expect, test } from '@jest/globals';
import type { WireObject, WriteResult } from '../../../src/controller/ports.ts';
import { readReport, AcknowledgementReporter } from '../../../src/controller/acknowledgement-reporter.ts';
import {
  decodeReport,
  encodeReport,
  type AcknowledgementReport,
} from '../../../src/controller/acknowledgement-report.ts';
import { createLogger, createMetrics } from '../../../src/telemetry/index.ts';
import { until } from '../../support/until.ts';

const reporters: AcknowledgementReporter[] = [];

afterEach(async () => {
  for (const one of reporters.splice(0)) await one.stop();
});

function started(rest = 0) {
  const written: WireObject[] = [];
  const answers: PromiseWithResolvers<WriteResult>[] = [];
  const world: { report: AcknowledgementReport } = { report: new Map() };
  const reporter = new AcknowledgementReporter({
    replica: { namespace: 'system', name: 'me', uid: 'u' },
    report: () => world.report,
    log: createLogger('silent'),
    metrics: createMetrics(),
    retry: 1,
    rest,
    writer: {
      apply(object) {
        written.push(object);
        const answer = Promise.withResolvers<WriteResult>();
        answers.push(answer);
        return answer.promise;
      },
    },
  });
  reporters.push(reporter);
  return { written, answers, world, reporter };
}

const report: AcknowledgementReport = new Map([
  [
    'ns/gw',
    new Map([
      ['pod', { generations: { 'Gateway/ns/gw': 2 }, problems: { 'listener/ns/gw/http': 'port is taken' } }],
      ['old', { generations: { 'Gateway/ns/gw': 2 }, problems: {}, isOutdated: true }],
    ]),
  ],
]);

describe('the report of a replica', () => {
  test('is a ConfigMap that goes with the pod, and can be read again', async () => {
    const { written, answers, world, reporter } = started();
    world.report = report;
    reporter.enqueue();
    expect(written).toMatchObject([
      {
        kind: 'ConfigMap',
        metadata: {
          namespace: 'system',
          name: 'me-acknowledged',
          ownerReferences: [{ kind: 'Pod', name: 'me', uid: 'u' }],
        },
      },
    ]);
    expect(written.map(readReport)).toEqual([report]);
    answers[0]?.resolve({ type: 'ok' });
  });

  test('is written once at a time, and then as it is by then', async () => {
    const { written, answers, world, reporter } = started();
    reporter.enqueue();
    world.report = report;
    for (let times = 0; times < 3; times += 1) reporter.enqueue();
    expect(written).toHaveLength(1);
    answers[0]?.resolve({ type: 'ok' });
    await until(() => expect(written.map(readReport)).toEqual([new Map(), report]));
    answers[1]?.resolve({ type: 'ok' });
    await reporter.stop();
    expect(written).toHaveLength(2);
  });

  test('is written again when somebody deletes or replaces it, or an earlier run has left another one', async () => {
    const { written, answers, world, reporter } = started();
    world.report = report;
    const ref = { group: '', kind: 'ConfigMap', namespace: 'system', name: 'me-acknowledged' };
    const event = (text: string) => ({
      type: 'upsert' as const,
      ref,
      object: { metadata: { name: ref.name }, data: { report: text } },
    });
    reporter.observe(event(encodeReport(report)));
    expect(written).toEqual([]);
    for (const other of [{ type: 'delete' as const, ref }, event('garbage'), event(encodeReport(new Map()))]) {
      const before = written.length;
      reporter.observe(other);
      await until(() => expect(written.slice(before).map(readReport)).toEqual([report]));
      answers.at(-1)?.resolve({ type: 'ok' });
    }
  });

  test('is not written once the replica has stopped, whichever data planes still go', async () => {
    const { written, reporter } = started();
    await reporter.stop();
    reporter.enqueue();
    expect(written).toEqual([]);
  });

  test('is not written again at once, however often it changes', async () => {
    const { written, answers, reporter } = started(3_600_000);
    reporter.enqueue();
    answers[0]?.resolve({ type: 'ok' });
    for (let times = 0; times < 100; times += 1) {
      reporter.enqueue();
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(written).toHaveLength(1);
    await reporter.stop();
    expect(written).toHaveLength(1);
  });

  test('fits into a ConfigMap: Gateways that report most lose their problems first, and then their pods', () => {
    const generations = { 'Gateway/ns/gw': 2 };
    const pod = (problems: Record<string, string>) => ({ generations, problems });
    const few = new Map([['pod', pod({ 'listener/ns/gw/http': 'port is taken' })]]);
    const talkative = new Map([['pod', pod({ 'listener/ns/gw/http': '\u00e9'.repeat(600_000) })]]);
    const crowded = new Map(
      Array.from({ length: 30_000 }, (_, number) => [`pod-${number}`, pod({ 'listener/x': 'port is taken' })] as const),
    );
    const text = encodeReport(
      new Map([
        ['ns/few', few],
        ['ns/talkative', talkative],
        ['ns/crowded', crowded],
      ]),
    );
    expect(Buffer.byteLength(text)).toBeLessThan(2 ** 20);
    expect(decodeReport(text)).toEqual(
      new Map([
        ['ns/few', few],
        ['ns/talkative', new Map([['pod', pod({})]])],
      ]),
    );
  });

  test('is written again after a failure', async () => {
    const { written, answers, reporter } = started();
    reporter.enqueue();
    answers[0]?.resolve({ type: 'unavailable', message: 'busy' });
    await until(() => expect(written).toHaveLength(2));
    answers[1]?.resolve({ type: 'ok' });
  });

  test.each([
    undefined,
    null,
    7,
    { report: 7 },
    { report: '{' },
    { report: '[]' },
    { report: '{"a":{"b":7}}' },
    { report: '{"ns/gw":{"pod":{"generations":{"x":"y"},"problems":[1]}}}' },
  ])('may be anything at all: %j', (data) => {
    expect(() => readReport({ metadata: { name: 'x' }, data })).not.toThrow();
  });
});
