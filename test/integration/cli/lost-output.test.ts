import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
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
