import { setImmediate as othersFirst } from 'node:timers/promises';
import { listOf, recordsOf } from '../../core/text/record.ts';
import {
  applyForced,
  customResourceDefinitions,
  get,
  listPages,
  readInstalledKind,
  remove,
  type ApiClient,
  type KubernetesObject,
  type WriteOutcome,
} from '../../kubernetes/index.ts';
import { digestOf, maxResults, reportApis, reportLabels, reportName, type ReportApi } from './report.ts';
import { storedTime } from './result.ts';
import { splitApiVersion } from '../../core/text/api-version.ts';

const fieldManager = 'sallyport-audit';

/** The reports that are stored in a cluster. */
export interface StoredReports {
  /** Namespace (`''` for cluster-scoped objects) → digest of its report. */
  readonly digests: Map<string, string>;
  /** Identity of a result → when it appeared, in seconds since 1970. */
  readonly times: ReadonlyMap<string, number>;
}

/** Reads and writes the reports of the audit in a cluster, until the signal is aborted. */
export class ReportStore {
  private readonly client: ApiClient;
  private readonly signal: AbortSignal;

  constructor(client: ApiClient, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /** Returns the report APIs that the cluster serves, the preferred one first. @throws if that cannot be read */
  async installed(): Promise<readonly ReportApi[]> {
    const served = await Promise.all(reportApis.map((api) => this.isServed(api)));
    return reportApis.filter((_api, index) => served[index]);
  }

  private async isServed({ namespaced: { apiVersion, plural } }: ReportApi): Promise<boolean> {
    const { group, version } = splitApiVersion(apiVersion);
    const definition = await get(
      { client: this.client, type: customResourceDefinitions },
      { name: `${plural}.${group}` },
      { signal: this.signal },
    );
    if (definition.type === 'notFound') return false;
    if (definition.type !== 'ok') throw new Error(definition.message);
    if (definition.object === undefined) return false;
    const { established, versions } = readInstalledKind(definition.object);
    return established && versions.some(({ name, served }) => served && name === version);
  }

  /** Reads all reports of the audit. @throws if they cannot be listed */
  async read(api: ReportApi): Promise<StoredReports> {
    const stored = { digests: new Map<string, string>(), times: new Map<string, number>() };
    for (const type of [api.namespaced, api.cluster]) {
      const selection = { type, labelSelector: labelSelector };
      for await (const { objects } of listPages(this.client, selection, this.signal))
        for (const object of objects) {
          note(object, stored);
          // A page has a few reports of 900 KiB, and each takes up to 30 ms.
          await othersFirst();
        }
    }
    return stored;
  }

  /** Creates or replaces a report. */
  write(api: ReportApi, report: KubernetesObject): Promise<WriteOutcome> {
    const type = report.metadata.namespace === undefined ? api.cluster : api.namespaced;
    return applyForced({ client: this.client, type }, report, { fieldManager, signal: this.signal });
  }

  /** Deletes the report of a namespace, or the one about cluster-scoped objects (`''`). */
  remove(api: ReportApi, namespace: string): Promise<WriteOutcome> {
    const [type, where] = namespace === '' ? [api.cluster, {}] : [api.namespaced, { namespace }];
    return remove({ client: this.client, type }, { ...where, name: reportName }, { signal: this.signal });
  }
}

const labelSelector = Object.entries(reportLabels)
  .map(([key, value]) => `${key}=${value}`)
  .join(',');

/** No report has it. */
const foreignDigest = '';

/** The maximum number of JSON values in a result. The audit writes about 25. */
const maxValues = 100;

function isLarge(part: unknown): boolean {
  return valuesLeft(part, maxValues) < 0;
}

/** The rest of this number of values after those of a JSON value; negative if it has more. */
function valuesLeft(value: unknown, most: number): number {
  let left = most - 1;
  if (typeof value !== 'object' || value === null) return left;
  for (const item of Object.values(value)) {
    if (left < 0) break;
    left = valuesLeft(item, left);
  }
  return left;
}

function note(
  report: KubernetesObject,
  { digests, times }: { digests: Map<string, string>; times: Map<string, number> },
) {
  if (report.metadata.name !== reportName) return;
  const namespace = report.metadata.namespace ?? '';
  const results = listOf(report['results']);
  // The audit never writes as much: another client did, and the report is replaced.
  if (results.length > maxResults || [report['source'], report['summary'], ...results].some(isLarge)) {
    digests.set(namespace, foreignDigest);
    return;
  }
  digests.set(namespace, digestOf(report));
  for (const result of recordsOf(results)) {
    const time = storedTime(result);
    if (time !== undefined) times.set(...time);
  }
}
