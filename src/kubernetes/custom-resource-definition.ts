import { createHash } from 'node:crypto';
import { isRecord, recordOf, recordsOf, textOf } from '../core/text/record.ts';
import { canonicalJson } from './canonical-json.ts';
import type { KubernetesObject, ResourceType } from './object.ts';

export const customResourceDefinitions: ResourceType = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
};

/** The facts of a CustomResourceDefinition about its kind. */
export interface InstalledKind {
  /** `httproutes.gateway.networking.k8s.io` */
  readonly name: string;
  readonly uid: string;
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly annotations: Readonly<Record<string, string>>;
  /** In the order of the CustomResourceDefinition. */
  readonly versions: readonly InstalledVersion[];
  /** Versions in which etcd may hold objects (status.storedVersions). */
  readonly storedVersions: readonly string[];
  /** Whether the API server serves the kind. It does so until the definition is removed, at the end of its deletion. */
  readonly established: boolean;
  /** Whether the definition is being deleted. This may wait for finalizers of its objects. */
  readonly deleting: boolean;
}

export interface InstalledVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  /** See `hashSchema`. */
  readonly schemaHash: string;
}

/** Reads a definition of any shape. Invalid fields are left out. */
export function readInstalledKind(definition: KubernetesObject): InstalledKind {
  const spec = recordOf(definition['spec']);
  const status = recordOf(definition['status']);
  const names = recordOf(spec['names']);
  const isEstablished = recordsOf(status['conditions']).some(
    (condition) => condition['type'] === 'Established' && condition['status'] === 'True',
  );
  const stored: readonly unknown[] = Array.isArray(status['storedVersions']) ? status['storedVersions'] : [];
  return {
    name: definition.metadata.name,
    uid: definition.metadata.uid ?? '',
    group: textOf(spec['group']),
    kind: textOf(names['kind']),
    plural: textOf(names['plural']),
    annotations: definition.metadata.annotations ?? {},
    versions: recordsOf(spec['versions']).map((version) => ({
      name: textOf(version['name']),
      served: version['served'] === true,
      storage: version['storage'] === true,
      schemaHash: hashSchema(recordOf(version['schema'])['openAPIV3Schema']),
    })),
    storedVersions: stored.filter((version) => typeof version === 'string'),
    established: isEstablished,
    deleting: definition.metadata['deletionTimestamp'] !== undefined,
  };
}

/**
 * Returns the SHA-256 of an `openAPIV3Schema`, in hexadecimal. It ignores the order of keys and descriptions, because some
 * distributions strip descriptions to save space.
 */
export function hashSchema(schema: unknown): string {
  return createHash('sha256')
    .update(canonicalJson(withoutDescriptions(schema)))
    .digest('hex');
}

function withoutDescriptions(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(withoutDescriptions);
  if (!isRecord(part)) return part ?? null;
  // A field named description has an object here: its schema.
  const kept = Object.entries(part).filter(([key, value]) => key !== 'description' || typeof value !== 'string');
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutDescriptions(value)]));
}

const versionForm = /^v(?<major>[0-9]{1,6})(?:(?<stage>alpha|beta)(?<minor>[0-9]{1,6}))?$/;

/**
 * The served version to follow: v1 if served, otherwise the first in the version order of Kubernetes (v2 before v1, stable before
 * beta before alpha). `undefined` if no version is served.
 */
export function preferredVersion(installed: InstalledKind): string | undefined {
  const served = installed.versions.filter((version) => version.served).map(({ name }) => name);
  return served.includes('v1') ? 'v1' : served.toSorted((left, right) => compare(rank(left), rank(right)))[0];
}

function rank(version: string): readonly number[] {
  const parts = versionForm.exec(version)?.groups;
  if (parts === undefined) return [3];
  const stage = { beta: 1, alpha: 2 }[parts['stage'] ?? ''] ?? 0;
  return [stage, -Number(parts['major']), -Number(parts['minor'] ?? 0)];
}

function compare(left: readonly number[], right: readonly number[]): number {
  const place = left.findIndex((part, index) => part !== right[index]);
  return place === -1 ? 0 : (left[place] ?? 0) - (right[place] ?? 0);
}
