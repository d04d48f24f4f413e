import { sameJson } from '../../core/text/compare-json.ts';
import type { Reading } from '../../telemetry/index.ts';
import { identityOf, type AuditResult } from './result.ts';

/** The maximum number of series of the metric. Further namespaces are counted together. */
export const maxSeries = 1_000;
/** The label for namespaces that are counted together. No namespace has this name. */
export const otherNamespaces = '(other)';

/** The results about all objects, by namespace (`''` for cluster-scoped objects). */
export class AuditLedger {
  private readonly byNamespace = new Map<string, Map<string, readonly AuditResult[]>>();
  private readonly changedNamespaces = new Set<string>();

  /** Replaces the results about an object. */
  set(namespace: string, object: string, results: readonly AuditResult[]): void {
    const objects = this.byNamespace.get(namespace) ?? new Map<string, readonly AuditResult[]>();
    if (sameJson(objects.get(object) ?? [], results)) return;
    if (results.length === 0) objects.delete(object);
    else objects.set(object, results);
    if (objects.size === 0) this.byNamespace.delete(namespace);
    else this.byNamespace.set(namespace, objects);
    this.changedNamespaces.add(namespace);
  }

  /** When the results about an object appeared, in seconds since 1970, by identity. */
  timesOf(namespace: string, object: string): ReadonlyMap<string, number> {
    const results = this.byNamespace.get(namespace)?.get(object) ?? [];
    return new Map(results.map((result) => [identityOf(result), result.since]));
  }

  /** All results about the objects of a namespace, in no particular order. */
  resultsOf(namespace: string): readonly AuditResult[] {
    return [...(this.byNamespace.get(namespace)?.values() ?? [])].flat();
  }

  /** Namespaces that have results. */
  namespaces(): Iterable<string> {
    return this.byNamespace.keys();
  }

  /** Namespaces whose report is out of date. */
  changed(): readonly string[] {
    return [...this.changedNamespaces];
  }

  /** Marks the report of a namespace as out of date, or as up to date. */
  mark(namespace: string, state: 'changed' | 'written'): void {
    if (state === 'changed') this.changedNamespaces.add(namespace);
    else this.changedNamespaces.delete(namespace);
  }

  /** The number of results by rule, namespace and outcome. The number of series is limited. */
  counts(): readonly Reading[] {
    const readings: Reading[] = [];
    const rest = new Map<string, Reading>();
    const bySize = [...this.byNamespace].sort(
      ([one, first], [other, second]) => second.size - first.size || (one < other ? -1 : 1),
    );
    for (const [namespace] of bySize) {
      const counted = countsOf(namespace, this.resultsOf(namespace));
      if (readings.length + counted.length <= maxSeries) readings.push(...counted);
      else
        for (const { labels, value } of counted) {
          const [rule = '', , outcome = ''] = labels;
          const key = `${rule} ${outcome}`;
          rest.set(key, {
            labels: [rule, otherNamespaces, outcome],
            value: (rest.get(key)?.value ?? 0) + value,
          });
        }
    }
    return [...readings, ...rest.values()];
  }
}

function countsOf(namespace: string, results: readonly AuditResult[]): readonly Reading[] {
  return [...Map.groupBy(results, ({ rule, outcome }) => `${rule} ${outcome}`).values()].map((group) => ({
    labels: [group[0]?.rule ?? '', namespace, group[0]?.outcome ?? ''],
    value: group.length,
  }));
}
