import { describeRef } from '../../../src/core/resources/reference.ts';
import {
  listedVersions,
  readVersion,
  resourceOf,
  storedObject,
  type StoredObject,
} from '../../../src/core/preflight/target.ts';
import {
  isSchemaKind,
  schemaTables,
  type Bundle,
  type KindTable,
  type SchemaKind,
} from '../../../src/core/schema/index.ts';
import { isRecord, listOf, recordOf } from '../../../src/core/text/record.ts';
import {
  create,
  get,
  listPages,
  pathOf,
  preferredVersion,
  resourceType,
  type ApiClient,
  type InstalledKind,
  type KubernetesObject,
  type ResourceType,
} from '../../../src/kubernetes/index.ts';
import { examplesOf } from '../../differential/examples.ts';
import { randomObject } from '../../differential/objects.ts';
import { createRandom } from '../../differential/random.ts';
import { subjectsOf, type Subject } from '../../differential/subject.ts';
import { okay } from './bundle-cluster.ts';
import { lostFields } from './lost-fields.ts';

/** The objects to create. */
export interface Population {
  readonly namespace: string;
  readonly seed: number;
  /** Random objects of each version of each kind, beside the examples of the rules. The API server rejects some of them. */
  readonly randomPerVersion: number;
}

/** An object as it was before the change of CRDs. */
export interface Candidate extends StoredObject {
  readonly json: KubernetesObject;
}

/** The consequences of a change of CRDs for objects, each list sorted and without repetitions. */
export interface Fate {
  /** CRDs that remain as they were, with objects. */
  readonly orphaned: readonly string[];
  /** `HTTPRoute shop/cart spec.rules[0].retry`: fields that are pruned. */
  readonly lost: readonly string[];
  /** Objects whose copies the API server rejects. */
  readonly rejected: readonly string[];
  /** `manager (apiVersion)`: clients that cannot write again in their version. */
  readonly unserved: readonly string[];
}

const parallel = 32;

/** Objects of every kind of a bundle in a real cluster. */
export class BundleObjects {
  private readonly client: ApiClient;
  private readonly population: Population;

  constructor(client: ApiClient, population: Population) {
    this.client = client;
    this.population = population;
  }

  /** Creates objects in every served version of every kind, and gives those that the API server took, as it serves them. */
  async createFor(bundle: Bundle): Promise<readonly Candidate[]> {
    const written = subjectsOf(bundle).flatMap((subject) =>
      this.writtenFor(subject).map((object) => ({ subject, object })),
    );
    await inParallel(written, async ({ subject, object }, index) => {
      const name = `o${index}`;
      const metadata = { name, ...(subject.table.namespaced ? { namespace: this.population.namespace } : {}) };
      const outcome = await create(
        { client: this.client, type: resourceType(subject.table, subject.version) },
        { ...(object as KubernetesObject), metadata },
        { fieldManager: subject.kind },
      );
      if (outcome.type !== 'ok' && outcome.type !== 'invalid') throw new Error(outcome.message);
    });
    const kinds = [...new Set(subjectsOf(bundle).map(({ kind }) => kind))];
    const listed = await Promise.all(kinds.map((kind) => this.list(typeIn(kind, bundle))));
    return listed.flat().flatMap((json) => storedObject(json).map((stored): Candidate => ({ ...stored, json })));
  }

  /** Deletes all objects of some installed kinds. */
  async deleteAll(kinds: readonly InstalledKind[]): Promise<void> {
    const { namespace } = this.population;
    for (const installed of kinds) {
      if (!isSchemaKind(installed.kind)) throw new Error(`${installed.name} is of no known kind`);
      const type = typeAt(installed.kind, `${installed.group}/${preferredVersion(installed) ?? ''}`);
      await this.client.request({ method: 'DELETE', path: pathOf(type, type.namespaced ? { namespace } : {}) });
    }
  }

  /** Finds the consequences of a change to a bundle whose CRDs of some kinds were installed. */
  async fateOf(before: readonly Candidate[], to: Bundle, wasInstalled: (kind: SchemaKind) => boolean): Promise<Fate> {
    const fates: Fate[] = [];
    for (const [kind, some] of Map.groupBy(before, (object) => object.kind)) {
      const isOrphaned = listedVersions(kind, to).length === 0;
      if (!isOrphaned && !wasInstalled(kind)) continue;
      const [first] = some;
      const type = isOrphaned && first !== undefined ? typeAt(kind, String(first.json.apiVersion)) : typeIn(kind, to);
      const now = new Map((await this.list(type)).map((object) => [object.metadata.name, object]));
      fates.push({
        orphaned: isOrphaned ? [resourceOf(kind)] : [],
        lost: some.flatMap(({ ref, json }) =>
          lostFields(json['spec'], now.get(ref.name)?.['spec'], `${describeRef(ref)} spec`),
        ),
        rejected: isOrphaned ? [] : await this.rejectedOf(some, now),
        unserved: isOrphaned ? [] : await this.unservedOf(some, type),
      });
    }
    return {
      orphaned: distinct(fates.flatMap(({ orphaned }) => orphaned)),
      lost: distinct(fates.flatMap(({ lost }) => lost)),
      rejected: distinct(fates.flatMap(({ rejected }) => rejected)),
      unserved: distinct(fates.flatMap(({ unserved }) => unserved)),
    };
  }

  /** Each example is written in one of the versions of its kind. */
  private writtenFor(subject: Subject): readonly unknown[] {
    const { seed, randomPerVersion } = this.population;
    const random = createRandom(seed);
    const versions = subjectsOf(subject.bundle).filter(({ kind }) => kind === subject.kind);
    const position = versions.findIndex(({ version }) => version === subject.version);
    return [
      ...examplesOf(subject).filter((_example, index) => index % versions.length === position),
      ...Array.from({ length: randomPerVersion }, () => randomObject(subject, random)),
    ];
  }

  private async list(type: ResourceType): Promise<readonly KubernetesObject[]> {
    const found: KubernetesObject[] = [];
    for await (const { objects } of listPages(this.client, { type }, new AbortController().signal))
      found.push(...objects.map((object) => ({ ...object, apiVersion: type.apiVersion, kind: type.kind })));
    return found;
  }

  /** The API server does not reject an update with unchanged errors, as it compares with the stored object. It rejects a copy. */
  private async rejectedOf(
    some: readonly Candidate[],
    now: ReadonlyMap<string, KubernetesObject>,
  ): Promise<readonly string[]> {
    const rejected: string[] = [];
    await inParallel(some, async ({ ref, kind }) => {
      const object = now.get(ref.name);
      if (object === undefined) throw new Error(`${describeRef(ref)} is gone`);
      const { apiVersion, spec, metadata } = object;
      const { namespace } = metadata;
      const type = typeAt(kind, String(apiVersion));
      const copy = { spec, metadata: { name: `${ref.name}-copy`, ...(namespace === undefined ? {} : { namespace }) } };
      const outcome = await create({ client: this.client, type }, copy, { dryRun: 'All' });
      if (outcome.type === 'invalid') rejected.push(describeRef(ref));
      else okay(outcome);
    });
    return rejected;
  }

  private async unservedOf(some: readonly Candidate[], type: ResourceType): Promise<readonly string[]> {
    const [first] = some;
    const unserved: string[] = [];
    for (const [apiVersion, writers] of Map.groupBy(some.flatMap(managersOf), (writer) => writer.apiVersion)) {
      const outcome = await get(
        { client: this.client, type: { ...type, apiVersion } },
        first?.json.metadata ?? { name: '' },
      );
      if (outcome.type === 'notFound') unserved.push(...writers.map(({ manager }) => `${manager} (${apiVersion})`));
      else okay(outcome);
    }
    return unserved;
  }
}

/** The resource in the version in which a bundle serves it. */
function typeIn(kind: SchemaKind, bundle: Bundle): ResourceType {
  const version = readVersion(kind, bundle);
  if (version === undefined) throw new Error(`no version of ${kind} is served`);
  const table: KindTable = schemaTables[kind];
  return resourceType(table, version);
}

function typeAt(kind: SchemaKind, apiVersion: string): ResourceType {
  const table: KindTable = schemaTables[kind];
  return { ...resourceType(table, ''), apiVersion };
}

function managersOf({ json }: Candidate): readonly { readonly manager: string; readonly apiVersion: string }[] {
  return listOf(recordOf(json.metadata)['managedFields'])
    .filter(isRecord)
    .map(({ manager, apiVersion }) => ({ manager: String(manager), apiVersion: String(apiVersion) }));
}

function distinct(names: readonly string[]): readonly string[] {
  return [...new Set(names)].toSorted();
}

async function inParallel<T>(items: readonly T[], run: (item: T, index: number) => Promise<void>): Promise<void> {
  const entries = items.entries();
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (const [index, item] of entries) await run(item, index);
    }),
  );
}
