import { writeFile } from 'node:fs/promises';
import { loadavg } from 'node:os';
import { runBenchmark, type ServerProcess } from './processes.ts';
import { cases, type Case } from './proxy/cases.ts';
import { isInstalled, prepare, type Contestant } from './proxy/contestants.ts';
import { measure, type Sample, type Target } from './proxy/measurement.ts';
import { figuresOf, machine, print, printSummary, type Table } from './proxy/report.ts';

// Processor time and latency of the proxy beside nginx and HAProxy: the same route, backend and client, alternately in
// one run, one process each. Each case (proxy/cases.ts) has new processes, so that it does not depend on the cases before.
// `make bench-proxy` builds the program and gives the run a network of its own (isolated.sh). CASES=get,tls selects cases,
// PEERS=node,none adds Node without our code, and the backend without a proxy. ROUNDS and DURATION (of a round, in seconds) set the length, RATE replaces the fixed rate of all cases, and JSON=FILE writes the
// figures of all rounds.

const rounds = Number(process.env['ROUNDS'] || 5);
const seconds = Number(process.env['DURATION'] || 3);
/** Units that a contestant serves before it is measured, or as many as it can in some rounds: programs are compiled while they run. */
const warmUp = { units: 60_000, rounds: 5 };

interface Run {
  readonly name: string;
  readonly measured: Case;
  readonly folder: string;
  readonly targets: readonly Target[];
}

function selected(): readonly string[] {
  const names = process.env['CASES']?.split(/[\s,]+/).filter((name) => name !== '') ?? [];
  const unknown = names.filter((name) => cases[name] === undefined);
  if (unknown.length > 0)
    throw new Error(`case not found: ${unknown.join(', ')}. Use ${Object.keys(cases).join(', ')}`);
  return names.length > 0 ? names : Object.keys(cases);
}

async function missingPrograms({ programs }: Case): Promise<readonly string[]> {
  const installed = await Promise.all(programs.map(isInstalled));
  return programs.filter((_, position) => installed[position] === false);
}

/** Starts those that serve the protocol of a case, and says why others do not. */
async function start(contestants: readonly Contestant[], { protocol, title }: Case): Promise<readonly Target[]> {
  const targets: Target[] = [];
  for (const contestant of contestants) {
    const reason = contestant.unsupported[protocol];
    if (reason !== undefined) {
      console.log(`\n${title}: ${contestant.name} skipped: ${reason}`);
      continue;
    }
    const { name, host, ports } = contestant;
    targets.push({ name, address: { host, port: ports[protocol] }, server: await contestant.start() });
  }
  return targets;
}

async function warm({ targets, measured, folder }: Run): Promise<void> {
  for (const target of targets) {
    progress(`Warming up ${target.name} ...`);
    let served = 0;
    for (let round = 0; round < warmUp.rounds && served < warmUp.units; round += 1)
      served += (await measured.saturate(target, { seconds }, folder)).count;
  }
}

async function compare({ name, targets, measured, folder }: Run, rate?: number): Promise<Table> {
  const all = targets.map((target) => ({ name: target.name, samples: [] as Sample[] }));
  const load = rate === undefined ? { seconds } : { seconds, rate };
  // The client of a rate is a different one.
  if (rate !== undefined) for (const target of targets) await measured.pace(target, load, folder);
  for (let round = 0; round < rounds; round += 1) {
    for (const [position, target] of targets.entries()) {
      progress(`${name}: ${target.name}, round ${round + 1} of ${rounds} ...`);
      const client = rate === undefined ? measured.saturate : measured.pace;
      all[position]?.samples.push(await measure(client, target, load, folder));
    }
  }
  progress('');
  const loadAverage = loadavg()[0] ?? Number.NaN;
  return { case: name, load: rate ?? 'saturated', loadAverage, figures: figuresOf(all), rounds: all };
}

/** Tells a person who looks on what is being done. */
function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${what}\u001b[K`);
}

await runBenchmark(async (folder, stoppables) => {
  const keep = async (server: Promise<ServerProcess>): Promise<ServerProcess> => {
    const one = await server;
    stoppables.push(one);
    return one;
  };
  const names = selected();
  const { contestants, versions } = await prepare(folder, keep);
  console.log([...versions, machine()].join('\n'));
  console.log(`Medians of ${rounds} rounds of ${seconds} s, alternately; "max" is the longest latency of all rounds.`);
  const tables: Table[] = [];
  for (const [name, measured] of names.flatMap((one) => Object.entries(cases).filter(([key]) => key === one))) {
    const missing = await missingPrograms(measured);
    if (missing.length > 0) {
      console.log(`\n${measured.title}: skipped: ${missing.join(' and ')} not found`);
      continue;
    }
    const targets = await start(contestants, measured);
    for (const target of targets) await measured.verify?.(target);
    const run = { name, measured, folder, targets };
    await warm(run);
    for (const rate of [undefined, Number(process.env['RATE'] || measured.rate)]) {
      const table = await compare(run, rate);
      print(table, measured);
      tables.push(table);
    }
    for (const { server } of targets) server.stop();
  }
  printSummary(tables, cases);
  const json = process.env['JSON'] ?? '';
  if (json !== '') await writeFile(json, `${JSON.stringify({ versions, machine: machine(), seconds, tables })}\n`);
});
