/**
 * Runs real clients through a running data plane, on loopback: `node test/interop/clients.ts` (`make clients`). Prints a line for each
 * client and check. Exits with 1 if a check failed; a client that is not installed is no failure. PYTHON names the interpreter
 * whose packages are tried. docs/guides/clients.md has the results.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAuthority, issueServingCertificate } from '../../src/certificates/authority.ts';
import { startTarget } from '../attack/support/target.ts';
import { freePort } from '../support/program.ts';
import { startClientBackend } from './clients/backend.ts';
import { curlClient } from './clients/curl.ts';
import { grpcClient, startGrpcServer } from './clients/grpc.ts';
import { h2loadClient, wrkClient } from './clients/load.ts';
import { clientObjects } from './clients/objects.ts';
import { isInstalled, run } from './clients/process.ts';
import { printLine, runChecks } from './clients/report.ts';
import { addressOfGateway } from './objects.ts';
import { hasGo } from './programs.ts';

// The program runs from its sources, wherever this one was called.
process.chdir(join(import.meta.dirname, '..', '..'));
const folder = mkdtempSync(join(tmpdir(), 'sallyport-clients-'));
const ending: (() => Promise<void> | void)[] = [() => rmSync(folder, { recursive: true, force: true })];
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end().then(() => process.exit(1)));
try {
  await tryEveryClient();
} finally {
  await end();
}

async function end(): Promise<void> {
  for (const step of ending.toReversed()) await step();
}

async function tryEveryClient(): Promise<void> {
  const authority = await createAuthority();
  // The Gateway is on the second one, or on the first where the system has no other.
  const addresses = ['127.0.0.1', '127.0.1.1'];
  const certificate = await issueServingCertificate(authority, { dnsNames: ['shop.example'], ipAddresses: addresses });
  const caFile = join(folder, 'ca.crt');
  writeFileSync(caFile, authority.certificate);

  const grpc = hasGo() ? await startGrpcServer() : undefined;
  if (grpc !== undefined) ending.push(() => grpc.stop());
  const ports = {
    http: await freePort(),
    https: await freePort(),
    backend: await startClientBackend(),
    grpc: grpc?.port,
  };
  const target = await startTarget(clientObjects(ports, certificate));
  ending.push(() => target.stop());
  const { host } = addressOfGateway(target);
  const at = {
    host,
    http: ports.http,
    https: ports.https,
    caFile,
    httpUrl: `http://${host}:${ports.http}`,
    httpsUrl: `https://${host}:${ports.https}`,
    folder,
  };

  for (const client of [curlClient, h2loadClient, wrkClient]) {
    if (isInstalled(client.command)) await runChecks(client.checksAt(at));
    else printLine('not installed', client.command);
  }
  const environment = {
    HTTP_URL: at.httpUrl,
    HTTPS_URL: at.httpsUrl,
    CA_FILE: caFile,
    NODE_EXTRA_CA_CERTS: caFile,
    HAS_GRPC: grpc === undefined ? '0' : '1',
  };
  await runScript(process.execPath, [join(import.meta.dirname, 'clients', 'node-clients.ts')], environment);
  const python = process.env['PYTHON'] ?? 'python3';
  if (isInstalled(python)) await runScript(python, [join(import.meta.dirname, 'clients', 'clients.py')], environment);
  else printLine('not installed', python);
  if (grpc === undefined) {
    printLine('not installed', 'go');
    return;
  }
  const program = join(folder, 'go-client');
  await run('go', ['-C', import.meta.dirname, 'build', '-o', program, './clients/go']);
  await runScript(program, [], environment);
  await runChecks(grpcClient(grpc.programs, at));
  if (!target.isAlive()) throw new Error(`the data plane ended:\n${target.output()}`);
}

/** Runs a program that prints the lines of its checks itself, for two minutes at most. */
async function runScript(
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', ...environment },
    timeout: 120_000,
    killSignal: 'SIGKILL',
  });
  ending.push(() => void child.kill('SIGKILL'));
  let printed = '';
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  for (const line of printed.split('\n').filter((line) => line !== '')) {
    const [state = '', ...columns] = line.split('\t');
    printLine(state, ...columns);
  }
  if (code !== 0 || printed === '')
    printLine('failed', command, 'run', code === null ? 'it was killed after two minutes' : `it ended with ${code}`);
}
