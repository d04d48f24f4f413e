import { Ajv } from 'ajv';
import { describe, expect, test } from '@jest/globals';
import type { JudgedFinding } from '../../../../src/core/admission/judged-finding.ts';
import { isRecord, type JsonRecord } from '../../../../src/core/text/record.ts';
import {
  digestOf,
  maxBytes,
  maxResults,
  omittedAnnotation,
  reportApis,
  reportOf,
  type ReportApi,
} from '../../../../src/webhook/audit/report.ts';
import { identityOf, resultsOf, storedTime, type Audited } from '../../../../src/webhook/audit/result.ts';
import { reportSchema } from '../../../support/report-definitions.ts';

const [open, legacy] = reportApis as readonly [ReportApi, ReportApi];
const route: Audited = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  namespace: 'shop',
  name: 'cart',
  uid: 'u1',
};

function finding(more: Partial<JudgedFinding> = {}): JudgedFinding {
  return {
    rule: 'duration-form',
    path: ['spec', 'rules', 0, 'timeouts', 'request'],
    message: 'Invalid duration.',
    effect: 'deny',
    withheld: false,
    ...more,
  };
}

function results(object: Partial<Audited>, ...findings: readonly JudgedFinding[]) {
  return resultsOf({ ...route, ...object }, findings, () => 1_700_000_000);
}

const exemption = { reason: 'moves soon', until: '2026-12-31' };
const some = results(
  {},
  finding(),
  finding({ effect: 'warn', rule: 'exemption', path: [] }),
  finding({ effect: 'warn', exemption }),
);

/** The same schema that allows no other field, although an API server only drops those. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isRecord(schema)) return schema;
  const entries = Object.entries(schema).map(([key, value]) => [key, closed(value)]);
  const { properties, format: _format, ...rest } = Object.fromEntries(entries) as Record<string, unknown>;
  const isNode = isRecord(schema['properties']) && schema['type'] === 'object';
  return isNode
    ? { ...rest, properties, additionalProperties: false }
    : { ...rest, ...(properties !== undefined && { properties }) };
}

describe('a result', () => {
  test.each<[string, Partial<JudgedFinding>, string, string]>([
    ['a denial', {}, 'fail', 'deny'],
    ['a warning', { effect: 'warn' }, 'warn', 'warn'],
    ['a denial that the profile audit withholds', { effect: 'record', withheld: true }, 'warn', 'would-deny'],
    ['a denial that an exemption prevents', { effect: 'warn', exemption }, 'skip', 'exempt'],
  ])('for %s', (_what, more, result, effect) => {
    const [stored] = reportOf(open, 'shop', results({}, finding(more)))['results'] as readonly JsonRecord[];
    expect(stored).toMatchObject({ result, properties: { effect } });
  });

  test('is missing for findings that are only recorded', () => {
    expect(results({}, finding({ effect: 'record' }))).toEqual([]);
  });

  test('links the page of its rule, or the list of rules', () => {
    const pages = reportOf(open, 'shop', results({}, finding(), finding({ rule: 'schema' })))['results'] as readonly {
      readonly properties: JsonRecord;
    }[];
    expect(pages.map(({ properties }) => properties['documentation'])).toEqual([
      expect.stringMatching(/\/docs\/rules\/duration-form\.md$/),
      expect.stringMatching(/\/docs\/rules\/README\.md$/),
    ]);
  });

  test('is found again in a stored report', () => {
    const stored = reportOf(open, 'shop', some)['results'] as readonly unknown[];
    expect(new Map(stored.flatMap((one) => [storedTime(one) ?? (['', 0] as const)]))).toEqual(
      new Map(some.map((result) => [identityOf(result), 1_700_000_000])),
    );
    expect(
      [null, 7, {}, { timestamp: {}, properties: {} }, { timestamp: { seconds: 1 }, properties: {}, resources: 1 }].map(
        storedTime,
      ),
    ).toEqual(Array.from({ length: 5 }));
  });

  test('is bounded, whatever names and messages contain', () => {
    const [result] = results({}, finding({ message: 'x'.repeat(9_999), path: ['spec', '\u202e'.repeat(9_999)] }));
    expect(result?.message).toHaveLength(1_024);
    expect(result?.path.length).toBeLessThan(8 * 256);
    expect(result?.path).not.toContain('\u202e');
  });
});

describe('a report', () => {
  test.each(reportApis)('of $namespaced.apiVersion conforms to the API', (api) => {
    const validate = new Ajv({ strict: false }).compile(closed(reportSchema(api)) as object);
    for (const namespace of ['shop', '']) {
      const { apiVersion, kind, metadata, ...body } = reportOf(api, namespace, some);
      validate(body);
      expect(validate.errors).toBeNull();
      expect({ apiVersion, kind }).toEqual({
        apiVersion: api.namespaced.apiVersion,
        kind: namespace === '' ? api.cluster.kind : api.namespaced.kind,
      });
      expect(metadata.namespace).toBe(namespace === '' ? undefined : namespace);
    }
  });

  test('contains everything that a reader needs', () => {
    expect(reportOf(legacy, 'shop', some.slice(0, 1))).toEqual({
      apiVersion: 'wgpolicyk8s.io/v1alpha2',
      kind: 'PolicyReport',
      metadata: {
        name: 'sallyport-audit',
        namespace: 'shop',
        labels: { 'app.kubernetes.io/managed-by': 'sallyport', 'app.kubernetes.io/component': 'audit' },
      },
      summary: { pass: 0, fail: 1, warn: 0, error: 0, skip: 0 },
      results: [
        {
          source: 'sallyport',
          policy: 'duration-form',
          rule: 'duration-form',
          category: 'Gateway API',
          severity: 'high',
          result: 'fail',
          scored: true,
          timestamp: { seconds: 1_700_000_000, nanos: 0 },
          resources: [
            {
              apiVersion: 'gateway.networking.k8s.io/v1',
              kind: 'HTTPRoute',
              namespace: 'shop',
              name: 'cart',
              uid: 'u1',
            },
          ],
          message: 'Invalid duration.',
          properties: {
            path: 'spec.rules[0].timeouts.request',
            effect: 'deny',
            documentation: 'https://github.com/sallyport/sallyport/blob/main/docs/rules/duration-form.md',
          },
        },
      ],
    });
    expect(reportOf(open, '', results({ namespace: '', kind: 'GatewayClass' }, finding()))).toMatchObject({
      kind: 'ClusterReport',
      source: 'sallyport',
      results: [{ resources: [expect.not.objectContaining({ namespace: expect.anything() })] }],
    });
  });

  test('does not depend on the order of events', () => {
    const other = results({ name: 'about', uid: 'u2' }, finding(), finding({ effect: 'warn' }));
    const [one, two] = [
      [...some, ...other],
      [...other, ...some.toReversed()],
    ].map((all) => reportOf(open, 'shop', all));
    expect(one).toEqual(two);
    expect(digestOf(one as never)).toBe(digestOf(two as never));
  });

  test('has at most 1,000 results, denials first, and says how many are left out', () => {
    const warnings = Array.from({ length: maxResults }, (_, index) =>
      results({ name: `a${index}` }, finding({ effect: 'warn' })),
    ).flat();
    const report = reportOf(open, 'shop', [...warnings, ...results({ name: 'z' }, finding())]);
    const shown = report['results'] as readonly JsonRecord[];
    expect(shown).toHaveLength(maxResults);
    expect(shown[0]).toMatchObject({ result: 'fail', resources: [{ name: 'z' }] });
    expect(report['summary']).toMatchObject({ fail: 1, warn: maxResults });
    expect(report.metadata.annotations).toEqual({ [omittedAnnotation]: '1' });
    expect(reportOf(open, 'shop', warnings).metadata.annotations).toBeUndefined();
  });

  test('has a size that an API server stores', () => {
    const large = Array.from({ length: maxResults }, (_, index) =>
      results({ name: `a${index}` }, finding({ message: '€'.repeat(9_999) })),
    ).flat();
    const report = reportOf(open, 'shop', large);
    const shown = report['results'] as readonly JsonRecord[];
    expect(Buffer.byteLength(JSON.stringify(shown))).toBeLessThanOrEqual(maxBytes);
    expect(shown.length).toBeGreaterThan(200);
    expect(report.metadata.annotations).toEqual({ [omittedAnnotation]: String(maxResults - shown.length) });
  });
});
