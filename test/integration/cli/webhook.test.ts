import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sallyport-webhook-'));
  await writeFile(join(folder, 'bad.yaml'), 'profile: strict\nfailurepolicy: Fail\n');
  await writeFile(join(folder, 'good.yaml'), 'profile: strict\n');
});

afterAll(() => rm(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly stderr: string;
}

/** Runs the program until it ends by itself. */
function run(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, NODE_OPTIONS: '', KUBECONFIG: join(folder, 'no-kubeconfig') };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, ['--disable-warning=ExperimentalWarning', 'src/main.ts', 'webhook', '--port=0', '--probe-port=0', ...args], { env }, (_error, _stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stderr });
    });
  });
}

describe('a webhook that cannot start says why, without a stack', () => {
  test('mistakes in the settings', async () => {
    const { code, stderr } = await run(`--settings=${join(folder, 'bad.yaml')}`);
    expect(stderr).toBe(`sallyport: the settings cannot be used:\n  ${join(folder, 'bad.yaml')}:2:1: failurepolicy: there is no such setting; did you mean failurePolicy?\n`);
    expect(code).toBe(1);
  });

  test('no way to reach a cluster', async () => {
    const { code, stderr } = await run(`--settings=${join(folder, 'good.yaml')}`);
    expect(stderr).toMatch(/^sallyport: the kubeconfig cannot be used: .*no-kubeconfig.*\n$/);
    expect(code).toBe(1);
  });

  test('a certificate without its key', async () => {
    const { code, stderr } = await run('--certificate-file=tls.crt');
    expect(stderr).toBe('sallyport: a certificate and its key belong together: give both --certificate-file and --private-key-file, or none\n');
    expect(code).toBe(1);
  });
});
