import { applyDefaults, type KindName } from '../../../src/core/schema/index.ts';
import { installation, standardPolicy } from '../../support/evaluation.ts';

export const gatewayApi = 'gateway.networking.k8s.io/v1';

export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: KindName;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly spec: unknown;
}

/** What a generated object is called, whether it has a problem, and a value that tells two versions of it apart. */
export interface Variation {
  readonly name: string;
  readonly fault: 'none' | 'one';
  readonly version: 'before' | 'after';
}

/** The problem: an empty path segment in the last rule. */
export function routeOf(rules: number, { name, fault, version }: Variation): ApiObject {
  const ruleAt = (position: number) => ({
    matches: [
      {
        path: {
          type: 'PathPrefix',
          value: fault === 'one' && position === rules - 1 ? `/a//${position}` : `/a/${position}`,
        },
        headers: [{ type: 'Exact', name: 'x-version', value: version }],
      },
      {
        path: { type: 'Exact', value: `/b/${position}` },
        queryParams: [{ type: 'Exact', name: 'debug', value: '1' }],
        method: 'GET',
      },
    ],
    filters: [
      {
        type: 'RequestHeaderModifier',
        requestHeaderModifier: { set: [{ name: 'x-team', value: 'shop' }], remove: ['x-internal'] },
      },
    ],
    backendRefs: [
      { name: 'service-0', port: 8080, weight: 90 },
      { name: 'service-1', port: 8080, weight: 10 },
    ],
    timeouts: { request: '10s', backendRequest: '2s' },
  });
  const spec = {
    parentRefs: [{ name: 'front', namespace: 'infra', sectionName: 'web' }],
    hostnames: [`${name}.example.com`],
    rules: Array.from({ length: rules }, (_, position) => ruleAt(position)),
  };
  return { apiVersion: gatewayApi, kind: 'HTTPRoute', metadata: { name, namespace: 'shop' }, spec };
}

/** The problem: certificates on a listener for plain HTTP. */
export function gatewayOf({ name, fault, version }: Variation): ApiObject {
  const tls = { mode: 'Terminate', certificateRefs: [{ name: 'certificate' }] };
  const secure = (position: number) => ({
    name: `secure-${position}`,
    hostname: `${version}-${position}.example.com`,
    port: 443,
    protocol: 'HTTPS',
    tls,
  });
  const plain = { name: 'plain', port: 80, protocol: 'HTTP', ...(fault === 'one' ? { tls } : {}) };
  const spec = { gatewayClassName: ourClassName, listeners: [plain, secure(0), secure(1), secure(2)] };
  return { apiVersion: gatewayApi, kind: 'Gateway', metadata: { name, namespace: 'infra' }, spec };
}

/** The problem: a description that is too long. */
export function classOf({ name, fault, version }: Variation): ApiObject {
  const spec = {
    controllerName: installation.controllerName,
    description: fault === 'one' ? version.repeat(20) : version,
  };
  return { apiVersion: gatewayApi, kind: 'GatewayClass', metadata: { name }, spec };
}

export const ourClassName = 'ours';

/** The Gateway that all routes are on, by their listener `web`; `sparePort` is that of another one. */
export function sharedGateway(sparePort: number): ApiObject {
  const listeners = [
    { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } } },
    { name: 'spare', port: sparePort, protocol: 'HTTP' },
  ];
  return {
    apiVersion: gatewayApi,
    kind: 'Gateway',
    metadata: { name: 'front', namespace: 'infra' },
    spec: { gatewayClassName: ourClassName, listeners },
  };
}

/** As the API server stores it: defaults filled in, and the record of who manages which field. */
export function stored(object: ApiObject): unknown {
  const time = '2026-01-01T00:00:00Z';
  const fieldsV1 = { 'f:spec': fieldsOf(object.spec) };
  const managed = {
    manager: 'kubectl-client-side-apply',
    operation: 'Update',
    apiVersion: object.apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1,
  };
  const metadata = {
    ...object.metadata,
    uid: '00000000-0000-4000-8000-000000000000',
    generation: 1,
    creationTimestamp: time,
    managedFields: [managed],
  };
  return applyDefaults(object.kind, { ...object, metadata }, standardPolicy.bundle);
}

function fieldsOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries([['.', {}], ...Object.entries(value).map(([key, field]) => [`f:${key}`, fieldsOf(field)])]);
}
