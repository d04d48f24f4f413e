import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { JudgedFinding } from '../../src/core/admission/judged-finding.ts';
import type { KubernetesObject } from '../../src/kubernetes/index.ts';
import { maxResults, reportApis, reportOf } from '../../src/webhook/audit/report.ts';
import { resultsOf, type AuditResult } from '../../src/webhook/audit/result.ts';
import { hasGo, reportReader } from './programs.ts';

// Our reports, read with the Go types of other programs: Policy Reporter reads openreports.io/v1alpha1 with those of reports-api, and
// Kyverno has its own for wgpolicyk8s.io/v1alpha2.
const isPossible = hasGo();
if (!isPossible)
  process.stderr.write(
    'test/interop: the reader of policy reports is left out, because go is not installed (https://go.dev/dl).\n',
  );

const exemption = { reason: 'moves soon', until: '2026-12-31' };
const findings: readonly Partial<JudgedFinding>[] = [
  {},
  { effect: 'warn' },
  { effect: 'record', withheld: true },
  { effect: 'warn', exemption },
  { rule: 'schema', path: [], message: 'Invalid "value": <fix> & more.' },
];

/** The results of many objects, more than a report has room for. */
function results(namespace: string): readonly AuditResult[] {
  return Array.from({ length: maxResults / 2 }, (_, index) =>
    resultsOf(
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: namespace === '' ? 'GatewayClass' : 'HTTPRoute',
        namespace,
        name: `object-${index}`,
        uid: `uid-${index}`,
      },
      findings.map((more) => ({
        rule: 'duration-form',
        path: ['spec', 'rules', 0, 'timeouts', 'request'],
        message: 'Invalid duration.',
        effect: 'deny',
        withheld: false,
        ...more,
      })),
      () => 1_700_000_000,
    ),
  ).flat();
}

function read(report: unknown) {
  const { stdout, stderr, status } = spawnSync(join(reportReader(), 'report-reader'), {
    input: `${JSON.stringify(report)}\n`,
    encoding: 'utf8',
    maxBuffer: 32 * 1024 * 1024,
  });
  return { report: stdout === '' ? undefined : (JSON.parse(stdout) as KubernetesObject), stderr, status };
}

(isPossible ? describe : describe.skip)('the reader of policy reports', () => {
  beforeAll(() => {
    reportReader();
  }, 600_000);

  describe.each(reportApis)('for $namespaced.apiVersion', (api) => {
    test.each(['shop', ''])('reads every field of a report of the namespace "%s"', (namespace) => {
      const report = reportOf(api, namespace, results(namespace));
      expect(report['results']).toHaveLength(maxResults);
      expect(read(report)).toEqual({ report: expect.objectContaining(withoutMetadata(report)), stderr: '', status: 0 });
      expect(read(report).report?.metadata).toMatchObject(report.metadata);
    });

    test('rejects what the API does not have', () => {
      const report = reportOf(api, 'shop', results('shop').slice(0, 1));
      expect(read({ ...report, origin: 'sallyport' }).stderr).toContain('unknown field "origin"');
      const [result] = report['results'] as readonly object[];
      expect(read({ ...report, results: [{ ...result, outcome: 'fail' }] }).stderr).toContain(
        'unknown field "results[0].outcome"',
      );
      expect(read({ ...report, summary: { fail: 'one' } }).status).toBe(1);
    });
  });
});

function withoutMetadata({ metadata: _metadata, ...report }: KubernetesObject): object {
  return report;
}
