/** Counts of durations by the upper bounds of their buckets in seconds, cumulative, as in a histogram of Prometheus. */
export type Durations = ReadonlyMap<number, number>;

/** A histogram of the process that writes routes to data planes, or of a data plane. */
export interface DurationMetric {
  readonly name: string;
  /** The text of a label, such as `until="sent"`. */
  readonly label?: string;
}

/** Reads a histogram from the metrics of some processes, which are added up. */
export function durationsIn(texts: readonly string[], { name, label = '' }: DurationMetric): Durations {
  const counts = new Map<number, number>();
  for (const line of texts.flatMap((text) => text.split('\n'))) {
    if (!line.startsWith(`${name}_bucket{`) || !line.includes(label)) continue;
    const bound = /le="([^"]+)"/.exec(line)?.[1] ?? '';
    const upper = bound === '+Inf' ? Infinity : Number(bound);
    counts.set(upper, (counts.get(upper) ?? 0) + Number(line.slice(line.lastIndexOf(' '))));
  }
  return counts;
}

/** The durations between two readings of a histogram. */
export function durationsBetween(before: Durations, after: Durations): Durations {
  return new Map([...after].map(([bound, count]) => [bound, count - (before.get(bound) ?? 0)]));
}

/** The upper bound in seconds of the bucket that contains a share of the durations. NaN if there are none. */
export function boundOf(durations: Durations, share: number): number {
  const sorted = [...durations].toSorted(([one], [other]) => one - other);
  const total = sorted.at(-1)?.[1] ?? 0;
  if (total === 0) return Number.NaN;
  return sorted.find(([, count]) => count >= total * share)?.[0] ?? Number.NaN;
}
