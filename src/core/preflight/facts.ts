import type { Bundle, Channel, SchemaKind } from '../schema/index.ts';

/** An installed CRD of the Gateway API. */
export interface Definition {
  /** `httproutes.gateway.networking.k8s.io` */
  readonly name: string;
  /** `undefined` for a kind that no known bundle has. */
  readonly kind: SchemaKind | undefined;
  /** The bundle by which its objects are judged. */
  readonly bundle: Bundle;
  /** By the annotation. */
  readonly channel: Channel | undefined;
  /** The version that objects are stored as when somebody writes them. */
  readonly storage: string | undefined;
  /** Versions in which objects may be stored. */
  readonly storedVersions: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** The field managers that wrote it, the status apart. */
  readonly managers: readonly string[];
}

/** Facts about a cluster that its objects do not show. */
export interface ClusterFacts {
  readonly definitions: readonly Definition[];
  /** The API server's version, such as `v1.37.1`; `undefined` where it is not known. */
  readonly kubernetes: string | undefined;
  /** ValidatingAdmissionPolicies: name → annotation `gateway.networking.k8s.io/bundle-version`, `''` without. */
  readonly policies: ReadonlyMap<string, string>;
  /** The newest version of `storagemigration.k8s.io` that the API server serves, such as `v1`. */
  readonly storageMigration: string | undefined;
}

/** Where there is no cluster. */
export const noCluster: ClusterFacts = { definitions: [], kubernetes: undefined, policies: new Map(), storageMigration: undefined };
