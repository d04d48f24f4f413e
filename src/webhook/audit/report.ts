import { createHash } from 'node:crypto';
import { canonical } from '../../core/text/compare-json.ts';
import type { JsonRecord } from '../../core/text/record.ts';
import type { KubernetesObject, ResourceType } from '../../kubernetes/index.ts';
import { byImportance, reportedResult, type AuditResult, type Totals } from './result.ts';

/** An API for reports of policies. */
export interface ReportApi {
  readonly namespaced: ResourceType;
  readonly cluster: ResourceType;
  /** Fields of its reports besides those that all report APIs have. */
  readonly fields: JsonRecord;
}

/** The supported report APIs, the preferred one first. */
export const reportApis: readonly ReportApi[] = [
  {
    namespaced: { apiVersion: 'openreports.io/v1alpha1', kind: 'Report', plural: 'reports', namespaced: true },
    cluster: {
      apiVersion: 'openreports.io/v1alpha1',
      kind: 'ClusterReport',
      plural: 'clusterreports',
      namespaced: false,
    },
    fields: { source: 'sallyport' },
  },
  {
    namespaced: {
      apiVersion: 'wgpolicyk8s.io/v1alpha2',
      kind: 'PolicyReport',
      plural: 'policyreports',
      namespaced: true,
    },
    cluster: {
      apiVersion: 'wgpolicyk8s.io/v1alpha2',
      kind: 'ClusterPolicyReport',
      plural: 'clusterpolicyreports',
      namespaced: false,
    },
    fields: {},
  },
];

/** The name of each report. */
export const reportName = 'sallyport-audit';
/** Selects the reports that the audit wrote, and no others. */
export const reportLabels = { 'app.kubernetes.io/managed-by': 'sallyport', 'app.kubernetes.io/component': 'audit' };
/** The annotation with the number of results that a report has no room for. */
export const omittedAnnotation = 'sallyport.dev/omitted-results';

/** The maximum number of results of a report. */
export const maxResults = 1_000;
/** The maximum size of the results as JSON, in bytes. The API server stores at most 1.5 MiB per object. */
export const maxBytes = 900 * 1_024;

/**
 * Returns the report about the objects of a namespace, or about cluster-scoped objects (`''`). If there are too many results, the
 * report contains those that matter most, and an annotation has the number of the others. The summary counts all of them.
 *
 * @param totals the numbers of all results, if `results` contains only those that matter most
 */
export function reportOf(
  api: ReportApi,
  namespace: string,
  results: readonly AuditResult[],
  totals: Totals = totalsOf(results),
): KubernetesObject {
  const { apiVersion, kind } = namespace === '' ? api.cluster : api.namespaced;
  const shown = withinLimits([...results].sort(byImportance).slice(0, maxResults).map(reportedResult));
  const omitted = totals.fail + totals.warn + totals.skip - shown.length;
  return {
    apiVersion,
    kind,
    metadata: {
      name: reportName,
      ...(namespace !== '' && { namespace }),
      labels: reportLabels,
      ...(omitted > 0 && { annotations: { [omittedAnnotation]: String(omitted) } }),
    },
    ...api.fields,
    summary: { pass: 0, error: 0, ...totals },
    results: shown,
  };
}

/** Returns a digest of the content of a report. Equal digests mean that a write would change nothing. */
export function digestOf({ metadata, ...report }: KubernetesObject): string {
  const { source, summary, results } = report as JsonRecord;
  const omitted = metadata.annotations?.[omittedAnnotation] ?? '';
  return createHash('sha256')
    .update(canonical([source, summary, results, omitted]))
    .digest('hex');
}

function totalsOf(results: readonly AuditResult[]): Totals {
  const totals = { fail: 0, warn: 0, skip: 0 };
  for (const { outcome } of results) totals[outcome] += 1;
  return totals;
}

function withinLimits(results: readonly JsonRecord[]): readonly JsonRecord[] {
  let bytes = 0;
  const end = results.findIndex((result) => {
    bytes += Buffer.byteLength(JSON.stringify(result)) + 1;
    return bytes > maxBytes;
  });
  return end === -1 ? results : results.slice(0, end);
}
