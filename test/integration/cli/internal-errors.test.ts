import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { freePort } from '../../support/program.ts';

/** Runs a module as a process; its exit code and everything that it wrote. */
async function runModule(source: string): Promise<{ readonly code: number | null; readonly output: string }> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', source],
    { env: { ...process.env, NODE_OPTIONS: '', NO_COLOR: '1' } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

const start = `
  const { InternalErrors } = await import('./src/cli/process/internal-errors.ts');
  const { Shutdown } = await import('./src/cli/process/shutdown.ts');
  const { createLogger, createMetrics } = await import('./src/telemetry/index.ts');
  const metrics = createMetrics();
  const running = new Shutdown();
  const errors = new InternalErrors(createLogger('info'), metrics);
  const turn = () => new Promise(setImmediate);
`;

test('a process survives errors that reach nobody, counts them and logs their stack', async () => {
  const { code, output } = await runModule(`${start}
    errors.survive(running);
    errors.report(new Error('of an exchange'));
    setImmediate(() => { throw new Error('thrown in a callback'); });
    void Promise.reject(new Error('rejected'));
    setImmediate(() => { throw 'no error at all'; });
    await turn(); await turn();
    console.log(await metrics.scrape());
  `);
  expect(code).toBe(0);
  expect(output).toContain('sallyport_internal_errors_total{origin="exchange"} 1');
  expect(output).toContain('sallyport_internal_errors_total{origin="exception"} 2');
  expect(output).toContain('sallyport_internal_errors_total{origin="rejection"} 1');
  const logged = output.split('\n').filter((line) => line.includes('"internal error"'));
  expect(logged.map((line) => (JSON.parse(line) as { origin: string }).origin).toSorted()).toEqual([
    'exception',
    'exception',
    'exchange',
    'rejection',
  ]);
  expect(output).toMatch(/thrown in a callback\\n {4}at /);
});

test('many errors are counted, and some of them logged', async () => {
  const { output } = await runModule(`${start}
    performance.now = () => 5;
    for (let count = 0; count < 500; count += 1) errors.report(new Error('again'));
    console.log(await metrics.scrape());
  `);
  expect(output).toContain('sallyport_internal_errors_total{origin="exchange"} 500');
  expect(output.match(/"internal error"/g)).toHaveLength(10);
});

test.each([
  ['before it has started', ''],
  ['after it has stopped', 'errors.survive(running); await running.stop();'],
])('an error %s ends the process', async (_name, before) => {
  const { code, output } = await runModule(
    `${start} ${before} setImmediate(() => { throw new Error('too early or too late'); }); setTimeout(() => {}, 60_000);`,
  );
  expect(code).not.toBe(0);
  expect(output).toContain('too early or too late');
});

test('the watchdog of the webhook survives them, too', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-'));
  const kubeconfig = join(folder, 'config');
  const port = await freePort();
  // Nothing listens there: the watchdog tries again and again.
  await writeFile(
    kubeconfig,
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: 'https://127.0.0.1:1' } }],
      users: [{ name: 'a', user: { token: 'a' } }],
    }),
  );
  const { code, output } = await runModule(`
    process.env.KUBECONFIG = ${JSON.stringify(kubeconfig)};
    const { startWatchdog } = await import('./src/cli/watchdog.ts');
    const running = await startWatchdog({ configuration: 'a', namespace: 'a', service: 'a', patience: 1000, probePort: ${port}, logLevel: 'info' });
    setImmediate(() => { throw new Error('thrown in a callback'); });
    await new Promise(setImmediate); await new Promise(setImmediate);
    console.log(await (await fetch('http://127.0.0.1:${port}/metrics')).text());
    await running.stop();
    process.exit(0);
  `);
  await rm(folder, { recursive: true });
  expect(output).toContain('sallyport_internal_errors_total{origin="exception"} 1');
  expect(output).toMatch(/thrown in a callback\\n {4}at /);
  expect(code).toBe(0);
});
