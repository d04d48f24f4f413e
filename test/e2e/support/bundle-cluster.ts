import { loadAll } from 'js-yaml';
import { nameOfBundle, releases, type Bundle } from '../../../src/core/schema/index.ts';
import {
  create,
  customResourceDefinitions,
  get,
  isKubernetesObject,
  listPages,
  readInstalledKind,
  remove,
  update,
  type ApiClient,
  type KubernetesObject,
  type WriteOutcome,
} from '../../../src/kubernetes/index.ts';
import { crdManifests } from '../../cluster/crd-manifests.ts';
import { waitFor } from './wait.ts';

const markers = {
  apiVersion: 'bundles.sallyport.test/v1',
  kind: 'Marker',
  plural: 'markers',
  namespaced: false,
} as const;

const nameOfMarkers = 'markers.bundles.sallyport.test';

/**
 * The CRDs of a cluster, without the policy of the bundles. The API server takes note of changes of CRDs in their order, so a CRD that is
 * written after the others (`Marker`) shows when it validates and prunes by all of them.
 */
export class BundleCluster {
  private readonly client: ApiClient;
  private marks = 0;

  constructor(client: ApiClient) {
    this.client = client;
  }

  /** The CRDs of all groups of the Gateway API. */
  async installed(): Promise<readonly KubernetesObject[]> {
    const found: KubernetesObject[] = [];
    const signal = new AbortController().signal;
    for await (const { objects } of listPages(this.client, { type: customResourceDefinitions }, signal))
      found.push(...objects.filter(({ metadata }) => metadata.name.includes('.gateway.networking.')));
    return found;
  }

  /** Writes the CRDs of a bundle, and waits until they are in force. Gives the names of those that the API server rejects. */
  async install(bundle: Bundle): Promise<readonly string[]> {
    const outcomes = await Promise.all(definitionsOf(bundle).map((crd) => this.write(crd)));
    await this.settled();
    return outcomes.flatMap(({ name, outcome }) => (outcome.type === 'ok' ? [] : [name])).toSorted();
  }

  /** Deletes CRDs with their objects, and waits until they are gone. */
  async delete(names: readonly string[]): Promise<void> {
    const writer = { client: this.client, type: customResourceDefinitions };
    await Promise.all(names.map((name) => remove(writer, { name })));
    for (const name of names)
      await waitFor(`the end of CRD ${name}`, async () =>
        (await get(writer, { name })).type === 'notFound' ? true : undefined,
      );
  }

  /** Deletes all CRDs that this class has written. */
  async clear(): Promise<void> {
    await this.delete([...(await this.installed()).map(({ metadata }) => metadata.name), nameOfMarkers]);
  }

  private async write(crd: KubernetesObject): Promise<{ readonly name: string; readonly outcome: WriteOutcome }> {
    const writer = { client: this.client, type: customResourceDefinitions };
    const { name } = crd.metadata;
    const present = await get(writer, { name });
    const outcome =
      present.type === 'ok' && present.object !== undefined
        ? await update(writer, withVersionOf(present.object, crd))
        : await create(writer, crd);
    if (outcome.type !== 'ok' && outcome.type !== 'invalid') throw new Error(`${name}: ${outcome.message}`);
    return { name, outcome };
  }

  private async settled(): Promise<void> {
    for (const name of (await this.installed()).map(({ metadata }) => metadata.name))
      await waitFor(`CRD ${name}`, async () => {
        const { object } = okay(await get({ client: this.client, type: customResourceDefinitions }, { name }));
        return object !== undefined && readInstalledKind(object).established ? true : undefined;
      });
    this.marks += 1;
    okay((await this.write(markerDefinition(this.marks))).outcome);
    const writer = { client: this.client, type: markers };
    await waitFor('the marker', async () => {
      const { type } = await create(writer, { metadata: { name: 'marker' } });
      return type === 'ok' || type === 'exists' ? true : undefined;
    });
    await waitFor(`mark ${this.marks}`, async () => {
      const { object } = okay(await get(writer, { name: 'marker' }));
      return object?.[nameOfMark(this.marks)];
    });
  }
}

/** The outcome of a write or read that must succeed. */
export function okay(outcome: WriteOutcome): Extract<WriteOutcome, { readonly type: 'ok' }> {
  if (outcome.type !== 'ok') throw new Error(outcome.message);
  return outcome;
}

/** The official CRDs of a bundle. */
export function definitionsOf(bundle: Bundle): readonly KubernetesObject[] {
  const manifests = loadAll(crdManifests(releases[bundle.minor], bundle.channel)).filter(isKubernetesObject);
  const definitions = manifests.filter(({ kind }) => kind === customResourceDefinitions.kind);
  if (definitions.length === 0) throw new Error(`${nameOfBundle(bundle)} has no CRDs`);
  return definitions;
}

/** Annotations of the bundle replace the present ones; status and finalizers belong to the API server. */
function withVersionOf(present: KubernetesObject, crd: KubernetesObject): KubernetesObject {
  const { resourceVersion } = present.metadata;
  return { ...crd, metadata: { ...crd.metadata, ...(resourceVersion === undefined ? {} : { resourceVersion }) } };
}

/** A field of its own for each mark: the API server stores the default of a field that it has read. */
function nameOfMark(mark: number): string {
  return `mark${mark}`;
}

function markerDefinition(mark: number): KubernetesObject {
  const [group = '', version = ''] = markers.apiVersion.split('/');
  return {
    metadata: { name: nameOfMarkers },
    spec: {
      group,
      names: { kind: markers.kind, plural: markers.plural, singular: 'marker', listKind: 'MarkerList' },
      scope: 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: {
            openAPIV3Schema: {
              type: 'object',
              properties: { [nameOfMark(mark)]: { type: 'boolean', default: true } },
            },
          },
        },
      ],
    },
  };
}
