/** A value at a time in seconds. */
export interface Observation {
  readonly time: number;
  readonly value: number;
}

/** A straight line through observations. */
export interface Trend {
  /** Change of the value per hour. */
  readonly slope: number;
  /** The standard error of the slope. */
  readonly noise: number;
  /** Growth from the first to the last observation according to the line. */
  readonly growth: number;
  readonly mean: number;
}

/** Memory goes up and down with garbage collection, so neighboring observations are not independent. Their means are. */
const blocks = 20;
/** Standard errors of the slope beyond which it is not noise. */
const significance = 3;
/** Growth that is too small to be called a leak, as a share of the mean. */
const negligible = 0.02;

/** Fits a line through the means of blocks of observations, which must be in order of time. */
export function trendOf(observations: readonly Observation[]): Trend {
  const size = Math.max(1, Math.floor(observations.length / blocks));
  const means = Array.from({ length: Math.floor(observations.length / size) }, (_, block) => {
    const part = observations.slice(block * size, (block + 1) * size);
    return { time: meanOf(part.map(({ time }) => time)), value: meanOf(part.map(({ value }) => value)) };
  });
  const [time, mean] = [meanOf(means.map((one) => one.time)), meanOf(means.map(({ value }) => value))];
  const spread = sumOf(means.map((one) => (one.time - time) ** 2));
  const slope = sumOf(means.map((one) => (one.time - time) * (one.value - mean))) / spread;
  const residuals = sumOf(means.map((one) => (one.value - mean - slope * (one.time - time)) ** 2));
  const noise = Math.sqrt(residuals / Math.max(1, means.length - 2) / spread);
  const elapsed = (observations.at(-1)?.time ?? 0) - (observations[0]?.time ?? 0);
  return { slope: slope * 3600, noise: noise * 3600, growth: slope * elapsed, mean };
}

/** Whether a trend is a leak: its slope is clearly above the noise, and the growth is not negligible. */
export function isLeak({ slope, noise, growth, mean }: Trend): boolean {
  return slope > significance * noise && growth > negligible * mean;
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}
