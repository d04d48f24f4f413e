import { describe, expect, test } from '@jest/globals';
import { maxProblems, writeJson } from '../../../../../src/cli/report/formats/json.ts';
import type { Reported } from '../../../../../src/cli/report/report.ts';
import type { Statement } from '../../../../../src/cli/report/reported.ts';
import { problem, reported, skipped, written } from '../../../../support/report.ts';

const head = 'apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: cart, namespace: shop }\n';
const fields = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'HTTPRoute', namespace: 'shop', name: 'cart' };

function statement(severity: Statement['severity'], rule = 'a-rule'): Statement {
  return { rule, severity, path: ['spec', 'rules', 0, 'filters', 1, 'type'], message: 'It has no "rules".' };
}

async function json(...report: readonly Reported[]): Promise<unknown> {
  return JSON.parse(await written(writeJson, ...report));
}

describe('json', () => {
  test('holds every object with verdict and findings, then problems of files and a summary', async () => {
    const object = reported(`# first\n${head}spec: {}\n`, [statement('note')]);
    expect(await json(object, problem({ position: { line: 9, column: 2 } }), reported(head, []))).toEqual({
      tool: 'sallyport',
      version: '1.2.3',
      objects: [
        {
          file: 'a.yaml',
          line: 2,
          ...fields,
          verdict: 'allowed',
          findings: [
            {
              rule: 'a-rule',
              effect: 'record',
              path: 'spec.rules[0].filters[1].type',
              message: 'It has no "rules".',
              line: 5,
              column: 1,
              identity: expect.stringMatching(
                /^a-rule HTTPRoute shop\/cart spec\.rules\[[0-9a-f]{8}\]\.filters\[[0-9a-f]{8}\]\.type$/,
              ),
            },
          ],
        },
        { file: 'a.yaml', line: 1, ...fields, verdict: 'allowed', findings: [] },
      ],
      problems: [
        { file: 'a.yaml', line: 9, column: 2, rule: 'unreadable-file', severity: 'error', message: 'it is broken' },
      ],
      summary: { allowed: 2, denied: 0, skipped: 0, error: 1, warning: 0, note: 1, suppressed: 0, problemsLeftOut: 0 },
    });
  });

  test.each([
    ['error', 'deny', 'denied'],
    ['warning', 'warn', 'allowed'],
    ['note', 'record', 'allowed'],
  ] as const)('gives a finding of severity %s the effect %s: the object is %s', async (severity, effect, verdict) => {
    expect(await json(reported(head, [statement(severity)]))).toMatchObject({
      objects: [{ verdict, findings: [{ effect }] }],
    });
  });

  test('denies nothing for a finding that is suppressed, and says by what it is', async () => {
    const object = reported(head, [statement('error')]);
    const suppression = { by: 'baseline', reason: 'known' } as const;
    const suppressed = { ...object, findings: object.findings.map((finding) => ({ ...finding, suppression })) };
    expect(await json(suppressed)).toMatchObject({
      objects: [{ verdict: 'allowed', findings: [{ effect: 'deny', suppression }] }],
      summary: { error: 0, suppressed: 1 },
    });
  });

  test.each([
    ['namespaced, without one', head.replace(', namespace: shop', ''), { ...fields, namespace: 'default' }],
    [
      'cluster-scoped',
      'apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: { name: internal, namespace: shop }\n',
      { ...fields, kind: 'GatewayClass', namespace: '', name: 'internal' },
    ],
    ['without a name', head.replace('name: cart, ', ''), { ...fields, name: '' }],
    ['without anything', 'spec: {}\n', { apiVersion: '', kind: '', namespace: '', name: '' }],
    [
      'with what is no text',
      'apiVersion: 1\nkind: [a]\nmetadata: { name: {}, namespace: null }\n',
      { apiVersion: '', kind: '', namespace: '', name: '' },
    ],
  ])('names an object: %s', async (_case, text, expected) => {
    expect(await json(reported(text, []))).toMatchObject({ objects: [expected] });
  });

  test('lists what belongs to others as skipped, beside what is counted', async () => {
    const foreign = skipped('apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: cart }\n');
    expect(await json(foreign)).toMatchObject({
      objects: [
        {
          file: 'a.yaml',
          line: 1,
          apiVersion: 'apps/v1',
          kind: 'Deployment',
          namespace: '',
          name: 'cart',
          verdict: 'skipped',
          findings: [],
        },
      ],
      summary: { allowed: 0, denied: 0, skipped: 1 },
    });
  });

  test('says that what others refer to is skipped, too, unless something is wrong with it', async () => {
    const service = 'apiVersion: v1\nkind: Service\nmetadata: { name: cart }\n';
    expect(await json(reported(service, []), reported(service, [statement('error')]))).toMatchObject({
      objects: [{ verdict: 'skipped' }, { verdict: 'denied' }],
      summary: { allowed: 0, denied: 1, skipped: 1 },
    });
  });

  test('has a line for each object and each problem', async () => {
    const text = await written(
      writeJson,
      reported(head, [statement('error'), statement('note')]),
      problem({}),
      reported(head, []),
    );
    expect(text.split('\n').map((line) => line.slice(0, 9))).toEqual([
      '{"tool":"',
      '{"file":"',
      '{"file":"',
      '],"proble',
      '{"file":"',
      '],"summar',
      '',
    ]);
  });

  test('holds some thousand problems back, and counts the rest', async () => {
    const problems = Array.from({ length: maxProblems + 2 }, () => problem({}));
    const { problems: held, summary } = (await json(...problems)) as {
      readonly problems: readonly unknown[];
      readonly summary: unknown;
    };
    expect(held).toHaveLength(maxProblems);
    expect(summary).toMatchObject({ error: maxProblems + 2, problemsLeftOut: 2 });
  });

  test('is JSON without objects, too', async () => {
    expect(await json()).toMatchObject({ objects: [], problems: [], summary: { allowed: 0, denied: 0, skipped: 0 } });
  });
});
