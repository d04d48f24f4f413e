import { cpus, loadavg } from 'node:os';
import type { Case } from './cases.ts';
import { median, type Sample } from './measurement.ts';

/** The rounds of one contestant. */
export interface Rounds {
  readonly name: string;
  readonly samples: readonly Sample[];
}

/** The figures of one contestant: medians of its rounds, except for `max`, the longest latency of all rounds. */
export interface Figures extends Sample {
  readonly name: string;
  /** Processor time per unit to that of the first contestant: median of the ratios of the rounds. */
  readonly ratio: number;
}

/** One table of the report. */
export interface Table {
  readonly case: string;
  /** `saturated`, or units per second. */
  readonly load: 'saturated' | number;
  /** The load average of the machine during the measurement. */
  readonly loadAverage: number;
  readonly figures: readonly Figures[];
  readonly rounds: readonly Rounds[];
}

export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} CPUs, ${cpu?.model ?? 'unknown'}, load average ${loadavg()[0]?.toFixed(1)}`;
}

/** @param all the rounds of each contestant, in the same order; ratios are to the first one */
export function figuresOf(all: readonly Rounds[]): readonly Figures[] {
  const [reference] = all;
  return all.map(({ name, samples }) => {
    const middle = (value: (sample: Sample) => number): number => median(samples.map(value));
    return {
      name,
      count: middle(({ count }) => count),
      cpu: middle(({ cpu }) => cpu),
      ratio: median(samples.map(({ cpu }, round) => cpu / (reference?.samples[round]?.cpu ?? Number.NaN))),
      cores: middle(({ cores }) => cores),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
      max: Math.max(...samples.map(({ max }) => max)),
      rate: middle(({ rate }) => rate),
      memory: samples.at(-1)?.memory ?? Number.NaN,
    };
  });
}

/** Prints a table for people, in Markdown. */
export function print({ figures, load, loadAverage }: Table, { title, unit, clients }: Case): void {
  const pace = load === 'saturated' ? 'as fast as possible' : `${load.toLocaleString('en')} ${unit}s/s`;
  console.log(`\n${title}, ${clients}, ${pace}; load average ${loadAverage.toFixed(1)}\n`);
  const columns = [
    '',
    `CPU µs/${unit}`,
    `to ${figures[0]?.name}`,
    'p50 ms',
    'p99 ms',
    'max ms',
    `${unit}s/s`,
    'cores',
    'MiB',
  ];
  const rows = figures.map((one) => [
    one.name,
    one.cpu.toFixed(1),
    one.ratio.toFixed(2),
    one.p50.toFixed(2),
    one.p99.toFixed(2),
    one.max.toFixed(1),
    one.rate.toFixed(0),
    one.cores.toFixed(2),
    one.memory.toFixed(0),
  ]);
  printMarkdown(columns, rows);
}

/** Prints the tables of docs/guides/performance.md: one line for each case, the first and the last contestant. */
export function printSummary(tables: readonly Table[], all: Readonly<Record<string, Case>>): void {
  const lines = tables.flatMap((table) => {
    const [title, reference, own] = [all[table.case]?.title, table.figures[0], table.figures.at(-1)];
    return title === undefined || reference === undefined || own === undefined
      ? []
      : [{ title, table, reference, own }];
  });
  const saturated = lines.filter(({ table }) => table.load === 'saturated');
  const paced = lines.filter(({ table }) => table.load !== 'saturated');
  console.log('\nSummary of saturated loads\n');
  printMarkdown(
    [
      '',
      'nginx: CPU µs',
      'Sallyport: CPU µs',
      'to nginx',
      'HAProxy to nginx',
      'nginx: per s',
      'Sallyport: per s',
      'MiB',
    ],
    saturated.map(({ title, table: { figures }, reference, own }) => [
      title,
      reference.cpu.toFixed(1),
      own.cpu.toFixed(1),
      own.ratio.toFixed(2),
      figures.find(({ name }) => name === 'HAProxy')?.ratio.toFixed(2) ?? '',
      reference.rate.toFixed(0),
      own.rate.toFixed(0),
      own.memory.toFixed(0),
    ]),
  );
  console.log('\nSummary of loads at a fixed rate: milliseconds, p50, p99 and longest\n');
  printMarkdown(
    ['', 'per s', 'nginx', 'Sallyport', 'p99 to nginx', 'CPU to nginx'],
    paced.map(({ title, table: { load }, reference, own }) => [
      title,
      load.toLocaleString('en'),
      latencies(reference),
      latencies(own),
      (own.p99 / reference.p99).toFixed(2),
      own.ratio.toFixed(2),
    ]),
  );
}

function latencies({ p50, p99, max }: Figures): string {
  return `${p50.toFixed(2)}, ${p99.toFixed(2)}, ${max.toFixed(1)}`;
}

function printMarkdown(columns: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = columns.map((column, position) =>
    Math.max(...[column, ...rows.map((row) => row[position] ?? '')].map(({ length }) => length)),
  );
  const pad = (cell: string, position: number): string => {
    const width = widths[position] ?? 0;
    return position === 0 ? cell.padEnd(width) : cell.padStart(width);
  };
  const line = (cells: readonly string[]): string => `| ${cells.map(pad).join(' | ')} |`;
  console.log(line(columns));
  console.log(`|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`);
  for (const row of rows) console.log(line(row));
}
