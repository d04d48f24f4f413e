import { loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { createAuthority } from '../../src/certificates/index.ts';
import { runBenchmark } from './processes.ts';
import { startBackends } from './proxy/backend-processes.ts';
import { objects } from './proxy/configurations.ts';
import { portsFrom } from './proxy/contestants.ts';
import { trafficOf, type Traffic } from './soak/calls.ts';
import { changeEverySecond } from './soak/changes.ts';
import { SoakedDataPlane } from './soak/data-plane.ts';
import { isLeak, trendOf, type Observation } from './soak/trend.ts';

// Mixed traffic through one data plane while routes and certificates change every second: memory, descriptors and errors.
// `make soak` builds the program and gives the run a network of its own (isolated.sh). MINUTES sets the length, and RATE
// multiplies the rates of all traffic. Exits with 1 if a call fails, a descriptor leaks, or memory grows clearly above
// the noise over the second half.

const minutes = Number(process.env['MINUTES'] || 120);
const scale = Number(process.env['RATE'] || 1);
const ports = portsFrom(18_030);
/** Calls of one kind of traffic at a time; beyond it calls are left out and counted. */
const concurrency = 64;
/** Seconds between two lines where nobody looks on. */
const lineInterval = 30;
/** Seconds in which connections without traffic end: idle backend connections and UDP flows take the longest. */
const idle = 150;
/** Errors that are printed. */
const printedErrors = 20;

class Tally {
  units = 0;
  changes = 0;
  omitted = 0;
  errors = 0;

  fail(what: string, error: unknown): void {
    this.errors += 1;
    if (this.errors <= printedErrors) say(`error: ${what}: ${String(error)}`);
  }
}

/** Calls at its rate until `signal` aborts, and waits for the last calls. */
async function send(traffic: Traffic, tally: Tally, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  const rate = traffic.rate * scale;
  const began = performance.now();
  for (let count = 0; !signal.aborted; count += 1) {
    if (running.size < concurrency) {
      const call = traffic.call().then(
        (units) => void (tally.units += units),
        (error: unknown) => tally.fail(traffic.name, error),
      );
      running.add(call);
      void call.finally(() => running.delete(call));
    } else tally.omitted += 1;
    await pause(Math.max(0, began + ((count + 1) * 1000) / rate - performance.now()));
  }
  await Promise.all(running);
}

function say(line: string): void {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
  console.log(line);
}

function describe(dataPlane: SoakedDataPlane, tally: Tally, seconds: number): string {
  const { memory, descriptors } = dataPlane.read();
  const time = `${String(Math.floor(seconds / 60)).padStart(4)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
  const omitted = tally.omitted === 0 ? '' : `, ${tally.omitted} calls omitted`;
  return (
    `${time}  ${memory.toFixed(1)} MiB  ${descriptors} descriptors  ${tally.units} units  ${tally.changes} changes  ` +
    `${tally.errors} errors  load ${loadavg()[0]?.toFixed(1)}${omitted}`
  );
}

/** Reads memory every second until the end of the run. */
async function observe(dataPlane: SoakedDataPlane, tally: Tally): Promise<readonly Observation[]> {
  const observations: Observation[] = [];
  const began = performance.now();
  for (let second = 1; second <= minutes * 60; second += 1) {
    await pause(Math.max(0, began + second * 1000 - performance.now()));
    observations.push({ time: second, value: dataPlane.read().memory });
    const line = describe(dataPlane, tally, second);
    if (process.stderr.isTTY) process.stderr.write(`\r${line}\u001b[K`);
    if (second % lineInterval === 0) say(line);
  }
  return observations;
}

/** The descriptors after connections without traffic have ended: as few as before, or those of the last moment. */
async function descriptorsAfter(dataPlane: SoakedDataPlane, before: number): Promise<number> {
  say(`Waiting up to ${idle} s until idle connections have ended ...`);
  for (let second = 0; second < idle && dataPlane.read().descriptors > before; second += 1) await pause(1000);
  return dataPlane.read().descriptors;
}

await runBenchmark(async (folder, stoppables) => {
  const backends = await startBackends(folder, async (server) => {
    stoppables.push(await server);
    return server;
  });
  const authority = await createAuthority();
  const dataPlane = new SoakedDataPlane(authority);
  const yaml = objects({ ports, backends, pem: '' }, { certificate: '', privateKey: '' });
  await dataPlane.start(folder, yaml, stoppables);
  await pause(5_000);
  const before = dataPlane.read();
  const tally = new Tally();
  const traffic = trafficOf(ports, authority.certificate);
  const end = new AbortController();
  const { signal } = end;
  const changing = changeEverySecond(dataPlane, ports, {
    signal,
    onDone: () => (tally.changes += 1),
    onError: (error) => tally.fail('change', error),
  });
  const sending = traffic.kinds.map((kind) => send(kind, tally, signal));
  const observations = await observe(dataPlane, tally);
  end.abort();
  await Promise.all([changing, ...sending]);
  await traffic.close();
  const descriptors = await descriptorsAfter(dataPlane, before.descriptors);
  const half = observations.slice(Math.floor(observations.length / 2));
  const trend = trendOf(half);
  say(`units: ${tally.units}, changes: ${tally.changes}, omitted calls: ${tally.omitted}, errors: ${tally.errors}`);
  say(`descriptors: ${before.descriptors} before, ${descriptors} after`);
  say(
    `memory: ${before.memory.toFixed(1)} MiB before, mean of the second half ${trend.mean.toFixed(1)} MiB, ` +
      `slope ${trend.slope.toFixed(2)} ± ${trend.noise.toFixed(2)} MiB per hour, growth ${trend.growth.toFixed(1)} MiB`,
  );
  if (minutes < 60) say('A run of less than an hour includes the warm-up, in which memory grows.');
  const failures = [
    ...(tally.errors > 0 ? [`${tally.errors} errors`] : []),
    ...(descriptors > before.descriptors ? [`${descriptors - before.descriptors} descriptors leak`] : []),
    ...(isLeak(trend) ? ['memory grows clearly above the noise'] : []),
  ];
  say(failures.length === 0 ? 'passed' : `failed: ${failures.join(', ')}`);
  process.exitCode = failures.length === 0 ? 0 : 1;
});
// Idle connections of clients do not delay the end.
process.exit();
