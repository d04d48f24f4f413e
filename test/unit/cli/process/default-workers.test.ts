import { expect, test } from '@jest/globals';
import { defaultWorkers } from '../../../../src/cli/process/default-workers.ts';

const version1 = '/sys/fs/cgroup/cpu/cpu.cfs_';

test.each<[string, Record<string, string>, number]>([
  ['no control group', {}, 1],
  ['no limit', { '/sys/fs/cgroup/cpu.max': 'max 100000\n' }, 1],
  ['half a CPU', { '/sys/fs/cgroup/cpu.max': '50000 100000\n' }, 1],
  ['one and a half CPUs', { '/sys/fs/cgroup/cpu.max': '150000 100000\n' }, 1],
  ['two CPUs', { '/sys/fs/cgroup/cpu.max': '200000 100000\n' }, 2],
  ['more CPUs than present', { '/sys/fs/cgroup/cpu.max': '1600000 100000\n' }, 8],
  ['an unknown format', { '/sys/fs/cgroup/cpu.max': '\n' }, 1],
  ['version 1 without a limit', { [`${version1}quota_us`]: '-1\n', [`${version1}period_us`]: '100000\n' }, 1],
  ['version 1, three CPUs', { [`${version1}quota_us`]: '300000\n', [`${version1}period_us`]: '100000\n' }, 3],
])('%s', (_name, files, workers) => {
  expect(defaultWorkers((file) => files[file], 8)).toBe(workers);
});
