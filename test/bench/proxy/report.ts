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
      waited: middle(({ waited }) => waited),
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
    'wait ms/s',
    'MiB',
  ];
  const rows = figures.map((one) => [
    one.name,
    fixed(one.cpu, 1),
    fixed(one.ratio, 2),
    fixed(one.p50, 2),
    fixed(one.p99, 2),
    fixed(one.max, 1),
    fixed(one.rate, 0),
    fixed(one.cores, 2),
    fixed(one.waited, 0),
    fixed(one.memory, 0),
  ]);
  printMarkdown(columns, rows);
}

/** A line of a summary: a case, and the figures of those that it compares. */
interface Line {
  readonly title: string;
  readonly load: Table['load'];
  readonly nginx: Figures;
  readonly own: Figures;
  readonly haproxy: Figures | undefined;
  readonly bare: Figures | undefined;
  readonly none: Figures | undefined;
}

/** Prints the tables of docs/guides/performance.md: one line for each case. */
export function printSummary(tables: readonly Table[], all: Readonly<Record<string, Case>>): void {
  const lines = tables.flatMap((table): readonly Line[] => {
    const named = (name: string): Figures | undefined => table.figures.find((one) => one.name === name);
    const [title, nginx, own] = [all[table.case]?.title, named('nginx'), named('Sallyport')];
    if (title === undefined || nginx === undefined || own === undefined) return [];
    const others = { haproxy: named('HAProxy'), bare: named('bare Node'), none: named('no proxy') };
    return [{ title, load: table.load, nginx, own, ...others }];
  });
  console.log('\nSummary of saturated loads\n');
  const saturated: readonly Column[] = [
    ['nginx: CPU µs', ({ nginx }) => fixed(nginx.cpu, 1)],
    ['Sallyport: CPU µs', ({ own }) => fixed(own.cpu, 1)],
    ['to nginx', ({ own }) => fixed(own.ratio, 2)],
    ['HAProxy to nginx', ({ haproxy }) => fixed(haproxy?.ratio, 2)],
    ['bare Node to nginx', ({ bare }) => fixed(bare?.ratio, 2)],
    ['nginx: per s', ({ nginx }) => fixed(nginx.rate, 0)],
    ['Sallyport: per s', ({ own }) => fixed(own.rate, 0)],
    ['MiB', ({ own }) => fixed(own.memory, 0)],
  ];
  printLines(
    saturated,
    lines.filter(({ load }) => load === 'saturated'),
  );
  console.log('\nSummary of loads at a fixed rate: milliseconds, p50, p99 and longest\n');
  const paced: readonly Column[] = [
    ['per s', ({ load }) => load.toLocaleString('en')],
    ['no proxy', ({ none }) => latencies(none)],
    ['nginx', ({ nginx }) => latencies(nginx)],
    ['HAProxy', ({ haproxy }) => latencies(haproxy)],
    ['bare Node', ({ bare }) => latencies(bare)],
    ['Sallyport', ({ own }) => latencies(own)],
    ['p99 to nginx', ({ own, nginx }) => fixed(own.p99 / nginx.p99, 2)],
    ['CPU to nginx', ({ own }) => fixed(own.ratio, 2)],
  ];
  printLines(
    paced,
    lines.filter(({ load }) => load !== 'saturated'),
  );
}

type Column = readonly [title: string, cell: (line: Line) => string];

/** Prints lines without the columns that are empty in all of them. */
function printLines(columns: readonly Column[], lines: readonly Line[]): void {
  const used = columns.filter(([, cell]) => lines.some((line) => cell(line) !== ''));
  printMarkdown(
    ['', ...used.map(([title]) => title)],
    lines.map((line) => [line.title, ...used.map(([, cell]) => cell(line))]),
  );
}

function latencies(figures: Figures | undefined): string {
  if (figures === undefined) return '';
  const { p50, p99, max } = figures;
  return `${p50.toFixed(2)}, ${p99.toFixed(2)}, ${max.toFixed(1)}`;
}

/** Empty for a figure that does not exist. */
function fixed(figure: number | undefined, digits: number): string {
  return figure === undefined || Number.isNaN(figure) ? '' : figure.toFixed(digits);
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
