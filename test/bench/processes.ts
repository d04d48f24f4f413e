import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

/** Clock ticks a second in /proc; the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** A server under test, a process of its own. */
export interface ServerProcess {
  readonly port: number;
  /** Microseconds of CPU, of the user's and of the kernel's, that all of its threads took so far. */
  cpu(): number;
  /** Milliseconds in which its main thread was ready to run, but had to wait for a core. */
  waited(): number;
  /** What it holds of the machine's memory, in MiB. */
  memory(): number;
  stop(): void;
}

/** Starts a program that prints the port it listens on as its first line. */
export async function startPrintingPort(command: string, args: readonly string[]): Promise<ServerProcess> {
  // Its log goes where those of a benchmark belong.
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await answerOf(child, once(createInterface({ input: child.stdout }), 'line'));
  return serverOf(child, Number(line));
}

interface Place {
  readonly host?: string;
  readonly port: number;
}

/** Starts a program that listens where it was told otherwise. */
export async function startOnPort(
  command: string,
  args: readonly string[],
  { host = '127.0.0.1', port }: Place,
): Promise<ServerProcess> {
  const child = spawn(command, args, { stdio: 'ignore' });
  for (let tries = 0; !(await isOpen(host, port)); tries++) {
    if (tries === 100 || child.exitCode !== null) throw new Error(`${command} does not listen on port ${port}`);
    await delay(50);
  }
  return serverOf(child, port);
}

function serverOf(child: ChildProcess, port: number): ServerProcess {
  const { pid } = child;
  if (pid === undefined) throw new Error('the process did not start');
  return {
    port,
    cpu: () => cpuOf(pid),
    waited: () => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1_000_000,
    memory: () => Number(/^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024,
    stop: () => void child.kill('SIGKILL'),
  };
}

/** Microseconds of CPU, user and kernel, that all threads of a process used so far. */
export function cpuOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name of the program comes first, in parentheses, and may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [fields[11], fields[12]].map(Number);
  return (((user ?? Number.NaN) + (system ?? Number.NaN)) / ticksPerSecond) * 1_000_000;
}

async function isOpen(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/**
 * Runs a benchmark with a folder that goes afterwards, and ends every process that it keeps in `stoppables`, also where
 * it fails or is interrupted.
 */
export async function runBenchmark(
  run: (folder: string, stoppables: { stop(): void }[]) => Promise<void>,
): Promise<void> {
  const stoppables: { stop(): void }[] = [];
  const stopAll = (): void => stoppables.forEach((one) => one.stop());
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      stopAll();
      process.exit(1);
    });
  }
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'));
  try {
    await run(folder, stoppables);
  } finally {
    stopAll();
    await rm(folder, { recursive: true, force: true });
  }
}

/** What a process answers. Throws where it ends instead. */
export async function answerOf(child: ChildProcess, answer: Promise<unknown[]>): Promise<unknown[]> {
  const end = new AbortController();
  const ended = once(child, 'exit', { signal: end.signal }).then(() =>
    Promise.reject(new Error(`process ${child.pid} ended instead of answering`)),
  );
  try {
    return await Promise.race([answer, ended]);
  } finally {
    // Otherwise each answer would leave a listener behind.
    ended.catch(() => undefined);
    end.abort();
  }
}
