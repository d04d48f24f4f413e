import process from 'node:process';
import { collectDefaultMetrics, Registry, type Metric } from 'prom-client';
import { outputTo } from './log-output.ts';

/** A metric family: one name and meaning, with one series per combination of labels. */
export interface FamilyDefinition {
  /** Without the `sallyport_` prefix. */
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** A number that is read at scrape time. Callers change `value` directly. */
export interface Cell {
  value: number;
}

/** Returns the series for label values in the order of the definition. Hot paths keep the series instead of looking it up again. */
export interface Family<Series> {
  at(...labels: readonly string[]): Series;
}

/** A value that is read at scrape time. Without a value there is no series. */
export interface Reading {
  readonly labels: readonly string[];
  readonly value: number;
}

/** Observations by upper bound. The last count is for those above all bounds. */
export interface Distribution {
  readonly bounds: readonly number[];
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** The metrics of one process. */
export interface Metrics {
  counter(definition: FamilyDefinition): Family<Cell>;
  gauge(definition: FamilyDefinition): Family<Cell>;
  /** A gauge whose values are read from `read` at scrape time. */
  observed(definition: FamilyDefinition, read: () => Iterable<Reading>): void;
  /** A counter whose values are read from `read` at scrape time. */
  observedCounter(definition: FamilyDefinition, read: () => Iterable<Reading>): void;
  /** A histogram whose values are read from `read` at scrape time. */
  observedHistogram(definition: FamilyDefinition, read: () => Distribution): void;
  /** `buckets`: upper bounds, ascending. */
  histogram(definition: FamilyDefinition, buckets: readonly number[]): Family<Histogram>;
  /** Adds the standard metrics of process and runtime (`process_*`, `nodejs_*`), and of the log on standard error. */
  observeProcess(): void;
  /** The metrics in the Prometheus text format, of type `contentType`. */
  scrape(): Promise<string>;
  readonly contentType: string;
}

/**
 * Maximum number of series per family. Label values can come from clients, and each series costs memory and scrape
 * time. Further series are counted under the label value `other`.
 */
const seriesLimit = 500;

/** Creates an empty set of metrics. Names must be unique within it. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const family = <Series>(definition: FamilyDefinition, type: SampleType, form: Form<Series>): Family<Series> => {
    const series = new Map<string, { labels: readonly string[]; series: Series }>();
    register(registry, definition, type, () =>
      [...series.values()].flatMap((entry) => form.samples(entry.series, entry.labels)),
    );
    const open = (labels: readonly string[], key: string): Series => {
      const created = form.create();
      series.set(key, { labels, series: created });
      return created;
    };
    const at = (...labels: readonly string[]): Series => {
      const key = JSON.stringify(labels);
      const known = series.get(key);
      if (known !== undefined) return known.series;
      if (series.size < seriesLimit) return open(labels, key);
      return (
        series.get(overflow)?.series ??
        open(
          definition.labels.map(() => 'other'),
          overflow,
        )
      );
    };
    // A family without labels is present from the start, to distinguish 0 from a missing series.
    if (definition.labels.length === 0) at();
    return { at };
  };
  return {
    counter: (definition) => family(definition, 'counter', number),
    gauge: (definition) => family(definition, 'gauge', number),
    observed: (definition, read) => register(registry, definition, 'gauge', () => [...read()]),
    observedCounter: (definition, read) => register(registry, definition, 'counter', () => [...read()]),
    observedHistogram: (definition, read) => register(registry, definition, 'histogram', () => samplesOf(read(), [])),
    histogram: (definition, buckets) =>
      family(definition, 'histogram', {
        create: () => new Histogram(buckets),
        samples: (histogram, labels) => histogram.samples(labels),
      }),
    observeProcess: () => observeProcess(registry),
    scrape: () => registry.metrics(),
    contentType: registry.contentType,
  };
}

/**
 * The library measures delays of the event loop with a timer that fires a hundred times a second, which takes half a percent of a core
 * in an idle process. The timer is set to the longest interval, and its metrics are removed. The time that the loop is active costs
 * nothing to count.
 */
function observeProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 2 ** 31 - 1 });
  for (const name of ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'])
    registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);
  const definition = {
    name: 'process_eventloop_active_seconds_total',
    help: 'Seconds in which the event loop was active. Its rate is the utilization.',
    labels: [],
  };
  register(registry, definition, 'counter', () => [
    { labels: [], value: performance.eventLoopUtilization().active / 1000 },
  ]);
  const omitted = {
    name: 'log_lines_omitted_total',
    help: 'Log lines that were not written, because those before them were not read.',
    labels: [],
  };
  register(registry, omitted, 'counter', () => [{ labels: [], value: outputTo(process.stderr).omitted }]);
}

const overflow = 'other';

interface Form<Series> {
  create(): Series;
  samples(series: Series, labels: readonly string[]): readonly Sample[];
}

const number: Form<Cell> = { create: () => ({ value: 0 }), samples: (cell, labels) => [{ labels, value: cell.value }] };

type SampleType = 'counter' | 'gauge' | 'histogram';

interface Sample extends Reading {
  /** Only in histograms: the suffix of the family's name. */
  readonly suffix?: string;
  /** Only in buckets: the upper bound. */
  readonly le?: number;
}

/** Counts observations by upper bound. */
export class Histogram {
  private readonly buckets: readonly number[];
  private readonly counts: Float64Array;
  private sum = 0;

  constructor(buckets: readonly number[]) {
    this.buckets = buckets;
    this.counts = new Float64Array(buckets.length + 1);
  }

  /** Records one value, in the unit of the bounds. */
  observe(value: number): void {
    const found = this.buckets.findIndex((bound) => value <= bound);
    const bucket = found === -1 ? this.buckets.length : found;
    this.counts[bucket] = (this.counts[bucket] ?? 0) + 1;
    this.sum += value;
  }

  /** The series of a Prometheus histogram: cumulative buckets, sum and count. */
  samples(labels: readonly string[]): readonly Sample[] {
    return samplesOf({ bounds: this.buckets, counts: this.counts, sum: this.sum }, labels);
  }
}

function samplesOf({ bounds, counts, sum }: Distribution, labels: readonly string[]): readonly Sample[] {
  let count = 0;
  const buckets = [...bounds, Infinity].map((le, bucket) => {
    count += counts[bucket] ?? 0;
    return { labels, value: count, suffix: '_bucket', le };
  });
  return [...buckets, { labels, value: sum, suffix: '_sum' }, { labels, value: count, suffix: '_count' }];
}

function register(
  registry: Registry,
  definition: FamilyDefinition,
  type: SampleType,
  read: () => readonly Sample[],
): void {
  const name = `sallyport_${definition.name}`;
  const get = async () => ({
    name,
    help: definition.help,
    type,
    values: read().map(({ labels, value, suffix = '', le }) => ({
      metricName: `${name}${suffix}`,
      labels: labelSet(definition, labels, le),
      value,
    })),
  });
  // The library's own metrics are classes, but it calls only this at scrape time.
  registry.registerMetric({ name, get } as unknown as Metric);
}

function labelSet(
  { labels: names }: FamilyDefinition,
  values: readonly string[],
  le: number | undefined,
): Record<string, string> {
  const pairs = names.map((name, position) => [name, values[position] ?? '']);
  return Object.fromEntries(le === undefined ? pairs : [['le', le === Infinity ? '+Inf' : String(le)], ...pairs]);
}
