import { recordOf, textOf } from '../../text/record.ts';

/** A whole object, for rules about more than its spec. Unreadable fields are absent. */
export interface WholeObject<S = unknown> {
  /** `gateway.networking.k8s.io/v1` */
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly spec?: S;
}

export interface Metadata {
  /** Empty if the API server has yet to generate it. */
  readonly name: string;
  /** `default` if it is not set. Cluster-scoped kinds ignore it. */
  readonly namespace: string;
  /** Unvalidated, of any type. */
  readonly labels?: unknown;
  readonly annotations?: unknown;
}

/** Returns the metadata of an unvalidated object. */
export function metadataOf(json: unknown): Metadata {
  const { name, namespace, labels, annotations } = recordOf(recordOf(json)['metadata']);
  return { name: textOf(name), namespace: textOf(namespace) || 'default', labels, annotations };
}
