import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

test.each([[['check', 'deploy']], [['check', '-o', 'json', 'deploy']]])(
  '%j says that it cannot write its output',
  async (args) => {
    // A file that is open for reading: each write fails, as on a full disk.
    const file = await open('package.json', 'r');
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts', ...args], {
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', file.fd, 'pipe'],
    });
    let problem = '';
    child.stderr?.on('data', (chunk: Buffer) => (problem += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    await file.close();
    expect({ code, problem }).toEqual({
      code: 2,
      problem: 'sallyport: cannot write the output: EBADF: bad file descriptor, write\n',
    });
  },
);

test('sallyport run goes on when the reader of its output has ended', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-test-'));
  const args = ['run', '-f', folder, '--webhook-port', '0', '--probe-port', '0'];
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts', ...args], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  const probe = new Promise<string>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes('Watching')) resolve(/http:\S+readyz/.exec(output)?.[0] ?? '');
    });
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  try {
    const url = await probe;
    child.stdout?.destroy();
    // Each change of the problem is reported on standard output.
    for (let write = 0; write < 3; write += 1) {
      await writeFile(join(folder, 'objects.yaml'), `kind: [${' '.repeat(write)}`);
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect((await fetch(url)).status).toBe(200);
    child.kill('SIGTERM');
    expect((await ended)[0]).toBe(0);
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});
