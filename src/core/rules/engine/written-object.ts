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
  const metadata = property(json, 'metadata');
  const [name, namespace] = [property(metadata, 'name'), property(metadata, 'namespace')];
  return {
    name: typeof name === 'string' ? name : '',
    namespace: typeof namespace === 'string' && namespace !== '' ? namespace : 'default',
    labels: property(metadata, 'labels'),
    annotations: property(metadata, 'annotations'),
  };
}

function property(json: unknown, name: string): unknown {
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name)
    ? (json as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
