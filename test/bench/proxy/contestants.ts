import { execFile } from 'node:child_process';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createAuthority, issueServingCertificate } from '../../../src/certificates/index.ts';
import { nodeOptionsOf } from '../../../src/controller/index.ts';
import { startOnPort, type ServerProcess } from '../processes.ts';
import { startBackends, startNginx, type Keep } from './backend-processes.ts';
import {
  haproxyConfiguration,
  nginxConfiguration,
  objects,
  type Ports,
  type Setting,
  type StreamModule,
} from './configurations.ts';
import type { Protocol } from './measurement.ts';

/** A proxy that is compared. */
export interface Contestant {
  readonly name: string;
  readonly host: string;
  readonly ports: Ports;
  /** Why the contestant does not serve a protocol. */
  readonly unsupported: Partial<Readonly<Record<Protocol, string>>>;
  start(): Promise<ServerProcess>;
}

/** The first contestant is the one that others are compared with. */
export interface Contest {
  readonly contestants: readonly Contestant[];
  /** Versions of all programs, for people. */
  readonly versions: readonly string[];
}

const bareNode = new URL('bare-node.ts', import.meta.url).pathname;
const program = new URL('../../../bin/sallyport', import.meta.url).pathname;
const streamModules = ['/usr/lib/nginx/modules', '/usr/lib64/nginx/modules', '/etc/nginx/modules'];

/** The ports of a proxy, from the first one on. */
export function portsFrom(first: number): Ports {
  const [http, https] = [first, first + 1];
  return { http, webSocket: http, https, h2: https, grpc: first + 2, tcp: first + 3, udp: first + 4 };
}

/** Starts the backends with `keep`, and prepares the contestants. Files are written to `folder`. */
export async function prepare(folder: string, keep: Keep): Promise<Contest> {
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content, 'latin1');
    return path;
  };
  const backends = await startBackends(folder, keep);
  const pair = await issueServingCertificate(await createAuthority(), { dnsNames: ['bench'], ipAddresses: [] });
  const pem = await file('tls.pem', `${pair.certificate}\n${pair.privateKey}`);
  const ports = {
    nginx: portsFrom(18_010),
    haproxy: portsFrom(18_020),
    ours: portsFrom(18_030),
    bare: portsFrom(18_040),
  };
  const stream = await streamModule();
  const haproxy = await versionOf('haproxy');
  const missing = 'nginx has no stream module: apt-get install libnginx-mod-stream';
  return {
    versions: [(await versionOf('nginx')) ?? 'nginx', haproxy ?? 'HAProxy not installed', `Node ${process.version}`],
    contestants: [
      {
        name: 'nginx',
        host: '127.0.0.1',
        ports: ports.nginx,
        unsupported: stream === 'none' ? { tcp: missing, udp: missing } : {},
        start: () =>
          keep(
            startNginx(
              folder,
              { name: 'nginx', port: ports.nginx.http },
              nginxConfiguration({ ports: ports.nginx, backends, pem }, stream),
            ),
          ),
      },
      {
        name: 'HAProxy',
        host: '127.0.0.1',
        ports: ports.haproxy,
        unsupported: haproxy === undefined ? everything('haproxy not found') : { udp: 'HAProxy does not forward UDP' },
        start: async () => {
          const path = await file('haproxy.cfg', haproxyConfiguration({ ports: ports.haproxy, backends, pem }));
          return keep(startOnPort('haproxy', ['-db', '-q', '-f', path], { port: ports.haproxy.http }));
        },
      },
      {
        name: 'Sallyport',
        host: '127.0.1.1',
        ports: ports.ours,
        unsupported: {},
        start: async () => {
          const path = await file('objects.yaml', objects({ ports: ports.ours, backends, pem }, pair));
          const options = ['--no-access-log', '--webhook-port', '0', '--probe-port', '0'];
          // As the controller starts a data plane.
          const command = [`NODE_OPTIONS=${nodeOptionsOf({})}`, program, 'run', '-f', path, ...options];
          return keep(startOnPort('env', command, { host: '127.0.1.1', port: ports.ours.http }));
        },
      },
      ...peers(keep, { ports: { ...ports.bare, webSocket: 18_045 }, backends, pem }),
    ],
  };
}

/** Contestants that show what the machine, the clients and Node take, as far as `PEERS` asks for them. */
function peers(keep: Keep, setting: Setting): readonly Contestant[] {
  const { ports, backends } = setting;
  const onlyBytes = 'it passes on bytes only';
  const available: Readonly<Record<string, Contestant>> = {
    node: {
      name: 'bare Node',
      host: '127.0.0.1',
      ports,
      unsupported: { h2: onlyBytes, grpc: onlyBytes },
      start: () => keep(startOnPort(process.execPath, [bareNode, JSON.stringify(setting)], { port: ports.http })),
    },
    none: {
      name: 'no proxy',
      host: '127.0.0.1',
      ports: { ...ports, http: backends.http, webSocket: backends.webSocket, tcp: backends.http, udp: backends.udp },
      unsupported: {
        https: 'the backend has no TLS',
        h2: 'the backend has no TLS',
        grpc: 'calls have different backends',
      },
      start: () => Promise.resolve(nothing),
    },
  };
  const names = (process.env['PEERS'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
  return names.map((name) => {
    const peer = available[name];
    if (peer === undefined) throw new Error(`peer not found: ${name}. Use ${Object.keys(available).join(', ')}`);
    return peer;
  });
}

/** What stands for the proxy where there is none. */
const nothing: ServerProcess = {
  port: 0,
  cpu: () => Number.NaN,
  waited: () => Number.NaN,
  memory: () => Number.NaN,
  stop: () => undefined,
};

/** How the installed nginx supports TCP and UDP. */
async function streamModule(): Promise<StreamModule> {
  const { stderr } = await promisify(execFile)('nginx', ['-V']);
  if (/--with-stream(\s|$)/.test(stderr)) return 'static';
  for (const folder of streamModules) if (await exists(join(folder, 'ngx_stream_module.so'))) return { folder };
  return 'none';
}

function everything(reason: string): Readonly<Record<Protocol, string>> {
  return { http: reason, webSocket: reason, https: reason, h2: reason, grpc: reason, tcp: reason, udp: reason };
}

/** The first line in which a program says its version. Undefined if the program is not installed. */
async function versionOf(name: string): Promise<string | undefined> {
  if (!(await isInstalled(name))) return undefined;
  const { stdout, stderr } = await promisify(execFile)(name, ['-v']);
  return `${stdout}${stderr}`.split('\n')[0];
}

/** Whether a program is in one of the folders of PATH. */
export async function isInstalled(name: string): Promise<boolean> {
  const folders = (process.env['PATH'] ?? '').split(':');
  const found = await Promise.all(folders.map((folder) => exists(join(folder, name))));
  return found.includes(true);
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
