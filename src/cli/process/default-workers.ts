import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** Maximum number of workers. */
const maxWorkers = 64;

/** Returns the content of a file; `undefined` if it is not found. */
type ReadText = (file: string) => string | undefined;

/** Returns one worker for each whole CPU of the container's limit, and one without a limit. */
export function defaultWorkers(read: ReadText = readText, present = availableParallelism()): number {
  const limit = Math.floor(cpuLimit(read) ?? 1);
  return Math.max(1, Math.min(limit, present, maxWorkers));
}

/** The CPU limit of this container in CPUs, from its control group (version 2, or 1); `undefined` without a limit. */
function cpuLimit(read: ReadText): number | undefined {
  const [quota, period] =
    read('/sys/fs/cgroup/cpu.max')?.trim().split(' ') ??
    ['cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((file) => read(`/sys/fs/cgroup/cpu/${file}`)?.trim());
  const cpus = Number(quota) / Number(period);
  // "max" in version 2, and -1 in version 1, are no limits.
  return cpus > 0 && Number.isFinite(cpus) ? cpus : undefined;
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
