import { readFileSync } from 'node:fs';

/** What a process holds of the machine's memory, in MiB. */
export interface MemoryUsage {
  readonly resident: number;
  /** Not backed by files: nobody can share it. */
  readonly anonymous: number;
  /** Resident, where pages that several processes share are divided among them. */
  readonly proportional: number;
}

/** Reads the memory usage of a process. */
export function memoryOf(pid: number): MemoryUsage {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return {
    resident: fieldOf(status, 'VmRSS'),
    anonymous: fieldOf(status, 'RssAnon'),
    proportional: fieldOf(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'), 'Pss'),
  };
}

function fieldOf(text: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+([0-9]+) kB`, 'm').exec(text)?.[1]) / 1024;
}
