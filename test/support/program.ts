import { spawn, type ChildProcess } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The program as a process of its own, run from its sources. */
export interface RunningProgram {
  /** All that it printed so far on standard output. */
  output(): string;
  /** All that it printed so far on standard error. */
  errors(): string;
  /** Resolves when the output holds `wanted`; rejects when the process ends before. */
  printed(wanted: string | RegExp): Promise<void>;
  /** Resolves with the exit code when the process ended by itself. */
  ended(): Promise<number | null>;
  /** Sends a signal and resolves with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** Starts `sallyport` with these arguments. */
export function startProgram(...args: readonly string[]): RunningProgram {
  return startProgramBy([], ...args);
}

/** Starts `sallyport run` on a folder of objects, with free ports for webhook and probes. */
export function startRun(folder: string, ...options: readonly string[]): RunningProgram {
  return startProgram('run', '-f', folder, '--webhook-port', '0', '--probe-port', '0', '--no-access-log', ...options);
}

/** Starts `sallyport` with these arguments by a command such as setpriv, which may change its user. */
export function startProgramBy(command: readonly string[], ...args: readonly string[]): RunningProgram {
  // A program that is killed cannot remove its temporary files.
  const temporary = mkdtempSync(join(tmpdir(), 'sallyport-program-'));
  chmodSync(temporary, 0o777);
  const [file = '', ...rest] = [
    ...command,
    process.execPath,
    '--disable-warning=ExperimentalWarning',
    'src/main.ts',
    ...args,
  ];
  const child: ChildProcess = spawn(file, rest, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1', TMPDIR: temporary },
  });
  let text = '';
  let errors = '';
  const waiting = new Set<() => void>();
  const tell = (): void => waiting.forEach((look) => look());
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    tell();
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    errors += chunk;
  });
  // Only then everything that it wrote has been read; a program that could not be started never exits.
  let isOver = false;
  const ended = new Promise<number | null>((resolve) => {
    const end = (code: number | null): void => {
      isOver = true;
      rmSync(temporary, { recursive: true, force: true });
      resolve(code);
      tell();
    };
    child.once('close', end).once('error', (error) => {
      errors += error.message;
      end(null);
    });
  });
  return {
    output: () => text,
    errors: () => errors,
    printed: (wanted) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) resolve();
          else if (isOver)
            reject(
              new Error(
                `the program ended with ${child.exitCode} before it printed ${String(wanted)}:\n${text}\n${errors}`,
              ),
            );
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
    ended: () => ended,
    stop(signal) {
      child.kill(signal);
      return ended;
    },
  };
}

/** A loopback port that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
