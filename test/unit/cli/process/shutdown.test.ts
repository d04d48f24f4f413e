import { expect, test } from '@jest/globals';
import { startOrStop } from '../../../../src/cli/process/shutdown.ts';

test('what started stops in the opposite order, once', async () => {
  const steps: string[] = [];
  const started = await startOrStop(async (running) => {
    running.last(() => void steps.push('last'));
    running.add(() => void steps.push('first opened'));
    running.add(() => void steps.push('then opened'));
  });
  expect(steps).toEqual([]);
  await Promise.all([started.stop(), started.stop()]);
  expect(steps).toEqual(['then opened', 'first opened', 'last']);
});

test('what was opened by then is closed where starting fails', async () => {
  const steps: string[] = [];
  const failing = startOrStop(async (running) => {
    running.add(() => void steps.push('closed'));
    throw new Error('no port');
  });
  await expect(failing).rejects.toThrow('no port');
  expect(steps).toEqual(['closed']);
});
