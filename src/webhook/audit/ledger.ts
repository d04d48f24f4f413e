import { sameJson } from '../../core/text/compare-json.ts';
import type { Reading } from '../../telemetry/index.ts';
import { byImportance, byObject, identityOf, outcomes, type AuditResult, type Outcome, type Totals } from './result.ts';

/** The maximum number of series of the metric. Further namespaces are counted together. */
export const maxSeries = 1_000;
/** The label for namespaces that are counted together. No namespace has this name. */
export const otherNamespaces = '(other)';

/** Results of an object that are kept, those that matter most: an object can have thousands, and nobody reads more. */
export const resultsPerObject = 25;

/** What is known about an object with results. */
interface JudgedObject {
  /** Those that matter most, in the order of reports. */
  readonly results: readonly AuditResult[];
  /** The numbers of all its results. */
  readonly counts: readonly Count[];
}

interface Count {
  readonly rule: string;
  readonly outcome: Outcome;
  readonly value: number;
}

/** What is known about the objects of a namespace. */
interface JudgedNamespace {
  readonly objects: Map<string, JudgedObject>;
  /** The numbers of all results, by rule and outcome. None is 0. */
  readonly counts: Map<string, Count>;
}

/** The results about all objects, by namespace (`''` for cluster-scoped objects). */
export class AuditLedger {
  private readonly byNamespace = new Map<string, JudgedNamespace>();
  private readonly changedNamespaces = new Set<string>();

  /** Replaces the results about an object. */
  set(namespace: string, object: string, results: readonly AuditResult[]): void {
    const judged = this.byNamespace.get(namespace) ?? { objects: new Map(), counts: new Map() };
    const before = judged.objects.get(object) ?? nothing;
    const after = {
      results: [...results].sort(byImportance).slice(0, resultsPerObject),
      counts: countsOf(results),
    };
    if (sameJson(before, after)) return;
    if (results.length === 0) judged.objects.delete(object);
    else judged.objects.set(object, after);
    for (const count of before.counts) add(judged.counts, count, -count.value);
    for (const count of after.counts) add(judged.counts, count, count.value);
    if (judged.objects.size === 0) this.byNamespace.delete(namespace);
    else this.byNamespace.set(namespace, judged);
    this.changedNamespaces.add(namespace);
  }

  /** When the results about an object appeared, in seconds since 1970, by identity. */
  timesOf(namespace: string, object: string): ReadonlyMap<string, number> {
    const { results } = this.byNamespace.get(namespace)?.objects.get(object) ?? nothing;
    return new Map(results.map((result) => [identityOf(result), result.since]));
  }

  /** The results about the objects of a namespace that matter most, at most `limit`, in the order of reports. */
  resultsOf(namespace: string, limit: number): readonly AuditResult[] {
    const objects = [...(this.byNamespace.get(namespace)?.objects.values() ?? [])].sort((one, other) =>
      byObject(one.results[0], other.results[0]),
    );
    const most: AuditResult[] = [];
    for (const outcome of outcomes)
      for (const { results } of objects) {
        if (most.length >= limit) return most.slice(0, limit);
        most.push(...results.filter((result) => result.outcome === outcome));
      }
    return most.slice(0, limit);
  }

  /** The numbers of all results about the objects of a namespace. */
  totalsOf(namespace: string): Totals {
    const totals = { fail: 0, warn: 0, skip: 0 };
    for (const { outcome, value } of this.byNamespace.get(namespace)?.counts.values() ?? []) totals[outcome] += value;
    return totals;
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
    const rest = new Map<string, Count>();
    const bySize = [...this.byNamespace].sort(
      ([one, first], [other, second]) => second.objects.size - first.objects.size || (one < other ? -1 : 1),
    );
    for (const [namespace, { counts }] of bySize) {
      if (readings.length + counts.size <= maxSeries)
        for (const count of counts.values()) readings.push(readingOf(count, namespace));
      else for (const count of counts.values()) add(rest, count, count.value);
    }
    return [...readings, ...rest.values().map((count) => readingOf(count, otherNamespaces))];
  }
}

const nothing: JudgedObject = { results: [], counts: [] };

function countsOf(results: readonly AuditResult[]): readonly Count[] {
  const counts = new Map<string, Count>();
  for (const result of results) add(counts, result, 1);
  return [...counts.values()];
}

/** Adds to the number of a rule and an outcome. */
function add(counts: Map<string, Count>, { rule, outcome }: Pick<Count, 'rule' | 'outcome'>, more: number): void {
  const key = `${rule} ${outcome}`;
  const value = (counts.get(key)?.value ?? 0) + more;
  if (value === 0) counts.delete(key);
  else counts.set(key, { rule, outcome, value });
}

function readingOf({ rule, outcome, value }: Count, namespace: string): Reading {
  return { labels: [rule, namespace, outcome], value };
}
