import { createHash } from 'node:crypto';

/** Bytes of an upload and of a download: 10 MiB. */
export const large = 10 * 1024 * 1024;

/** The content of `/bytes/N` of the backend, which uploads use, too. */
export const content = (length: number): Buffer<ArrayBuffer> => Buffer.alloc(length, 'sallyport ');

export const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');

/** Where the data plane serves. */
export interface Place {
  readonly host: string;
  readonly http: number;
  readonly https: number;
  readonly httpUrl: string;
  readonly httpsUrl: string;
  /** The certificate of the authority, as a file. */
  readonly caFile: string;
  /** For files that a client reads. */
  readonly folder: string;
}

/** A command that has to be installed, and its checks. */
export interface InstalledClient {
  readonly command: string;
  checksAt(at: Place): Client;
}

/** A program with its version, and what it is tried with; a check throws where it fails. */
export interface Client {
  readonly name: string;
  readonly checks: Readonly<Record<string, () => Promise<void>>>;
}

/** Runs the checks one after the other, and prints a line for each. */
export async function runChecks({ name, checks }: Client): Promise<void> {
  for (const [check, run] of Object.entries(checks)) {
    try {
      await run();
      printLine('ok', name, check);
    } catch (error) {
      printLine('failed', name, check, reasonOf(error));
    }
  }
}

/** The message of an error and those of its causes; `fetch` says why it failed in the cause alone. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${reasonOf(error.cause)}`;
}

/** Prints a line: state (`ok`, `failed`, `not installed`), client, check and reason, with tabs between them. `failed` sets the exit code. */
export function printLine(state: string, ...columns: readonly string[]): void {
  if (state === 'failed') process.exitCode = 1;
  process.stdout.write(`${[state, ...columns].map((column) => column.replaceAll(/\s+/g, ' ').trim()).join('\t')}\n`);
}

/** Throws where the two differ. */
export function expectEqual(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual)}`);
}
