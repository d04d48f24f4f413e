import { loadavg } from 'node:os';
import type { WriteOutcome } from '../../../src/kubernetes/index.ts';

/** Writes under way at a time. */
export const concurrency = 16;

/** Prints a figure, with the load of the machine. */
export function row(what: string, measured: string, remark = ''): void {
  progress('');
  console.log(`${what.padEnd(56)}${measured.padStart(26)}${(loadavg()[0] ?? 0).toFixed(1).padStart(7)}   ${remark}`);
}

/** Tells a person who looks on what is being done. */
export function progress(what: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r${what}\u001b[K`);
}

/** Does something for each number from `first` to below `end`, some at a time. */
export async function forEach(
  first: number,
  end: number,
  act: (number: number) => Promise<WriteOutcome>,
): Promise<void> {
  let next = first;
  const worker = async (): Promise<void> => {
    while (next < end) {
      const number = next;
      next += 1;
      const outcome = await act(number);
      if (outcome.type !== 'ok') throw new Error(`route ${number}: ${outcome.message}`);
      if (number % 50 === 0) progress(`Writing routes: ${number - first} of ${end - first} ...`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

export function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

export function format(count: number): string {
  return count.toLocaleString('en');
}
