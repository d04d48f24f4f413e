import { isRecord } from '../core/text/record.ts';
import { splitApiVersion } from '../core/text/api-version.ts';

/** An object as the API server sends it. Only its identity is guaranteed. The reader checks everything else. */
export interface KubernetesObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: ObjectMetadata;
  readonly [field: string]: unknown;
}

export interface ObjectMetadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Whether a JSON value has the minimum of a stored object: metadata with a name, and an identity and a version of the right types. */
export function isKubernetesObject(json: unknown): json is KubernetesObject {
  if (!isRecord(json) || !isRecord(json['metadata'])) return false;
  const { name, namespace, uid, resourceVersion } = json['metadata'];
  const isIdentified = typeof name === 'string' && name !== '' && [namespace, uid].every(isTextOrAbsent);
  return isIdentified && (resourceVersion === undefined || isVersion(resourceVersion));
}

/**
 * Whether a value can be a resourceVersion. One that is longer than those of API servers would become part of a path that no server reads,
 * in each request until the process ends.
 */
export function isVersion(value: unknown): value is string {
  return typeof value === 'string' && value.length <= 1_024;
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/** One version of a kind, and the resource that stores it. */
export interface ResourceType {
  /** `gateway.networking.k8s.io/v1`, or `v1` in the core group. */
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

/** The resource type of a schema entry. */
export function resourceType(
  entry: { readonly group: string; readonly kind: string; readonly plural: string; readonly namespaced: boolean },
  version: string,
): ResourceType {
  const { group, kind, plural, namespaced } = entry;
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, plural, namespaced };
}

/** One object, or all objects of a namespace or cluster. Empty strings mean "not given". */
export interface ObjectName {
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * The URL path of an object, a collection or a subresource (`status`). The parts are escaped, so that a name cannot address another
 * object.
 */
export function pathOf(type: ResourceType, { namespace = '', name = '' }: ObjectName = {}, subresource = ''): string {
  const { group, version } = splitApiVersion(type.apiVersion);
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(type.namespaced && namespace !== '' ? ['namespaces', namespace] : []),
    type.plural,
    ...(name === '' ? [] : [name]),
    ...(subresource === '' ? [] : [subresource]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

/** RFC 3339 with six fractional digits, the only form that MicroTime of Kubernetes accepts. */
export function microTime(date: Date): string {
  return date.toISOString().replace('Z', '000Z');
}
