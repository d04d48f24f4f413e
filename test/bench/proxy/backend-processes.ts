import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startOnPort, type ServerProcess } from '../processes.ts';
import { backendConfiguration, backendFiles, type Backends } from './configurations.ts';

/** Stops a process at the end of the run. */
export type Keep = (server: Promise<ServerProcess>) => Promise<ServerProcess>;

const backends: Backends = { http: 18_000, unary: 18_001, webSocket: 18_002, stream: 18_003, udp: 18_004 };

/** Starts nginx as backend of requests and unary calls, and a process of Node as backend of messages. */
export async function startBackends(folder: string, keep: Keep): Promise<Backends> {
  for (const [name, content] of Object.entries(backendFiles)) await writeFile(join(folder, name), content, 'latin1');
  const configuration = backendConfiguration(backends, folder);
  await keep(startNginx(folder, { name: 'backend', port: backends.http }, configuration));
  const echoPorts = [backends.webSocket, backends.stream, backends.udp].map(String);
  const echo = new URL('backends.ts', import.meta.url).pathname;
  await keep(startOnPort(process.execPath, [echo, ...echoPorts], { port: backends.stream }));
  return backends;
}

/** Starts nginx, and resolves when it listens on a port. Its files are in a folder of its own below `folder`. */
export async function startNginx(
  folder: string,
  { name, port }: { readonly name: string; readonly port: number },
  configuration: string,
): Promise<ServerProcess> {
  const prefix = join(folder, name);
  await mkdir(prefix, { recursive: true });
  const file = join(prefix, 'nginx.conf');
  await writeFile(file, configuration);
  return startOnPort('nginx', ['-p', prefix, '-e', 'stderr', '-c', file], { port });
}
