import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';

test('a process goes on if nobody reads its log', async () => {
  const source = `
    const { createLogger } = await import('./src/telemetry/index.ts');
    const log = createLogger('info');
    createLogger('info');
    await new Promise((resolve) => process.stdin.once('data', resolve));
    for (let turn = 0; turn < 10; turn += 1) {
      log.info('a line');
      await new Promise(setImmediate);
    }
    process.stdout.write('alive');
    process.exit();
  `;
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source],
    {
      env: { ...process.env, NODE_OPTIONS: '' },
    },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.destroy();
  await once(child.stderr, 'close');
  child.stdin.write('go\n');
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ code, output }).toEqual({ code: 0, output: 'alive' });
});
