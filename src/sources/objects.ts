import { amongOthers, installationOf } from '../core/admission/installation.ts';
import type { Installation } from '../core/graph/inputs.ts';
import { parseObject } from '../core/resources/parse.ts';
import { describeRef, keyOfRef } from '../core/resources/reference.ts';
import type { Bundle } from '../core/schema/index.ts';
import type { FileProblem, SourceDocument } from '../files/document.ts';
import { readFolder } from '../files/folder.ts';
import {
  createClient,
  customResourceDefinitions,
  isKubernetesObject,
  loadCredentials,
  type CredentialSource,
  type KubernetesObject,
} from '../kubernetes/index.ts';
import { isOfGatewayApi, readClusterObjects, type MissingPermissions } from './cluster-objects.ts';

/** The source of a command's objects: files, a cluster, or files on top of a cluster. */
export interface SourceOptions {
  readonly files: readonly string[];
  /** `undefined`: files only. */
  readonly cluster: CredentialSource | undefined;
  /** Where to list kinds of the cluster that the credentials may not list in all namespaces. */
  readonly namespace?: string | undefined;
}

/** The objects of a source, ready for a Workspace. */
export interface SourceObjects extends MissingPermissions {
  readonly documents: readonly SourceDocument[];
  readonly problems: readonly FileProblem[];
  readonly installation: Installation;
  readonly bundle: Bundle;
  /** The Gateway API CRDs: those of the cluster, or those in the files if there is no cluster. */
  readonly definitions: readonly KubernetesObject[];
}

/** Settings that apply if there is no cluster. */
export interface FilesAlone {
  readonly bundle: Bundle;
  readonly controllerName: string;
  /** Whether objects outside of the files may exist (`open`). */
  readonly scope: 'open' | 'closed';
}

/**
 * Reads the objects of a command. An object in a file replaces the object of the same name in the cluster.
 *
 * @throws errors of the kubeconfig and of the API server, with a message for people
 */
export async function readObjects(
  { files, cluster, namespace }: SourceOptions,
  alone: FilesAlone,
): Promise<SourceObjects> {
  const { documents, problems } = await readFolder(files);
  if (cluster === undefined) {
    const installation = installationOf(alone.bundle, alone.controllerName);
    return {
      documents,
      problems,
      bundle: alone.bundle,
      definitions: definitionsAmong(documents),
      forbidden: [],
      installation: alone.scope === 'open' ? amongOthers(installation) : installation,
    };
  }
  const client = createClient(await loadCredentials(cluster));
  try {
    const { objects, ...found } = await readClusterObjects(client, alone.controllerName, namespace);
    const { installation, bundle, definitions, definitionsForbidden, forbidden } = found;
    const merged = overlay(objects.map(clusterDocument), documents);
    return { documents: merged, problems, installation, bundle, definitions, definitionsForbidden, forbidden };
  } finally {
    await client.close();
  }
}

/** Returns the documents of `base`, where those of `changes` replace the ones that describe the same objects. */
export function overlay(
  base: readonly SourceDocument[],
  changes: readonly SourceDocument[],
): readonly SourceDocument[] {
  const replaced = new Set(changes.flatMap((document) => identityOf(document) ?? []));
  return [...base.filter((document) => !replaced.has(identityOf(document) ?? '')), ...changes];
}

/** `kind/namespace/name` of the object that a document describes; `undefined` for a document that is no object. */
export function identityOf({ value }: SourceDocument): string | undefined {
  const parsed = parseObject(value);
  if (parsed.type === 'invalid') return undefined;
  return keyOfRef(parsed.type === 'resource' ? parsed.resource.ref : parsed.ref);
}

function definitionsAmong(documents: readonly SourceDocument[]): readonly KubernetesObject[] {
  return documents
    .map(({ value }) => value)
    .filter(isKubernetesObject)
    .filter((object) => object.kind === customResourceDefinitions.kind && isOfGatewayApi(object));
}

/** The document of a cluster object. */
export function clusterDocument(object: KubernetesObject, index: number): SourceDocument {
  const {
    kind = '',
    metadata: { namespace = '', name },
  } = object;
  const start = { line: 1, column: 1 };
  return {
    file: describeRef({ kind, namespace, name }),
    isStored: true,
    index,
    value: object,
    line: 1,
    locate: () => start,
    textOf: () => '',
  };
}
