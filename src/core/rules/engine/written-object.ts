/** A whole object as rules about more than its spec see it; what cannot be read is absent. */
export interface WholeObject<S = unknown> {
  /** `gateway.networking.k8s.io/v1` */
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly spec?: S;
}

export interface Metadata {
  /** Empty where the API server has yet to make it up. */
  readonly name: string;
  /** `default` where none is written, which for kinds without namespace means nothing. */
  readonly namespace: string;
  /** As they came, whatever that is. */
  readonly labels?: unknown;
  readonly annotations?: unknown;
}

/** The metadata of an object as it came. */
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
  return typeof json === 'object' && json !== null && Object.hasOwn(json, name) ? (json as Readonly<Record<string, unknown>>)[name] : undefined;
}
