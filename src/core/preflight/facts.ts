import type { Bundle, Channel, SchemaKind } from '../schema/index.ts';

/** An installed CRD of the Gateway API. */
export interface Definition {
  /** `httproutes.gateway.networking.k8s.io` */
  readonly name: string;
  /** `undefined` if no known bundle has the kind. */
  readonly kind: SchemaKind | undefined;
  /** The bundle for validating its objects. */
  readonly bundle: Bundle;
  /** The channel in the annotation. */
  readonly channel: Channel | undefined;
  /** The version in which the API server stores objects on write. */
  readonly storage: string | undefined;
  /** The versions in which objects may be stored. */
  readonly storedVersions: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The field managers that wrote the CRD, except for its status. */
  readonly managers: readonly string[];
}

/** Facts about a cluster that its objects do not show. */
export interface ClusterFacts {
  readonly definitions: readonly Definition[];
  /** The message of an API server that forbids to list CRDs. Then there are no definitions. */
  readonly definitionsForbidden?: string | undefined;
  /** The message of an API server that forbids to list ValidatingAdmissionPolicies. */
  readonly policiesForbidden?: string | undefined;
  /** The message of an API server that forbids to read its version. */
  readonly versionForbidden?: string | undefined;
  /** Kinds that the credentials may not list in all namespaces, and the only namespace in which they are observed, if there is one. */
  readonly unobserved?: readonly { readonly kind: SchemaKind; readonly namespace: string | undefined }[];
  /** The API server's version, such as `v1.37.1`; `undefined` if it is unknown. */
  readonly kubernetes: string | undefined;
  /** ValidatingAdmissionPolicies: name → annotation `gateway.networking.k8s.io/bundle-version`, `''` if it is absent. */
  readonly policies: ReadonlyMap<string, string>;
  /** The newest version of `storagemigration.k8s.io` that the API server serves, such as `v1`. */
  readonly storageMigration: string | undefined;
}

/** The facts if there is no cluster. */
export const noCluster: ClusterFacts = {
  definitions: [],
  kubernetes: undefined,
  policies: new Map(),
  storageMigration: undefined,
};
