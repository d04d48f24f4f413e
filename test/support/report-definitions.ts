import type { KubernetesObject } from '../../src/kubernetes/index.ts';
import type { ReportApi } from '../../src/webhook/audit/report.ts';

// Facts about the two report APIs, read from their Go types: openreports/reports-api (openreports.io/v1alpha1) and
// kubernetes-sigs/wg-policy-prototypes (wgpolicyk8s.io/v1alpha2). Both have the same results. A result requires only `policy`.
// OpenReports adds `source` for the whole report. A CRD drops fields that it does not know.

const text = { type: 'string' };
const integer = { type: 'integer' };
const oneOf = (...values: readonly string[]) => ({ type: 'string', enum: values });
const outcomes = ['pass', 'fail', 'warn', 'error', 'skip'];
const objectOf = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  ...(required.length > 0 && { required }),
});

/** `v1.ObjectReference` of Kubernetes. */
const reference = objectOf({
  apiVersion: text,
  kind: text,
  namespace: text,
  name: text,
  uid: text,
  resourceVersion: text,
  fieldPath: text,
});

const result = objectOf(
  {
    source: text,
    policy: text,
    rule: text,
    category: text,
    severity: oneOf('critical', 'high', 'medium', 'low', 'info'),
    // `meta/v1.Timestamp`, not a text.
    timestamp: objectOf({ seconds: { ...integer, format: 'int64' }, nanos: { ...integer, format: 'int32' } }, [
      'seconds',
      'nanos',
    ]),
    result: oneOf(...outcomes),
    scored: { type: 'boolean' },
    resources: { type: 'array', items: reference },
    message: text,
    properties: { type: 'object', additionalProperties: text },
  },
  ['policy'],
);

/** The fields of a report beside apiVersion, kind and metadata. */
export function reportSchema(api: ReportApi): object {
  return objectOf({
    scope: reference,
    ...(api.namespaced.apiVersion.startsWith('openreports.io/') && { source: text }),
    summary: objectOf(Object.fromEntries(outcomes.map((outcome) => [outcome, integer]))),
    results: { type: 'array', items: result },
  });
}

/** The CRDs of a report API: namespaced and cluster-scoped reports. */
export function reportDefinitions(api: ReportApi): readonly KubernetesObject[] {
  return [api.namespaced, api.cluster].map(({ apiVersion, kind, plural, namespaced }) => {
    const [group = '', version = ''] = apiVersion.split('/');
    return {
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: namespaced ? 'Namespaced' : 'Cluster',
        names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
        versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: reportSchema(api) } }],
      },
    };
  });
}
