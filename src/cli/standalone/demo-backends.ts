import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Workspace } from '../../workspace/workspace.ts';

/** A running echo backend. */
export interface DemoBackend {
  readonly service: string;
  readonly host: string;
  readonly port: number;
}

/**
 * Starts a small echo server for every endpoint on a loopback address, so that an example works without other servers. Skips addresses
 * that are in use: another server listens there.
 */
export async function startDemoBackends(
  workspace: Workspace,
): Promise<{ readonly backends: readonly DemoBackend[]; close(): Promise<void> }> {
  const started = await Promise.all(demoEndpoints(workspace).map(start));
  const running = started.filter((one) => one !== undefined);
  return {
    backends: running.map(({ backend }) => backend),
    async close() {
      await Promise.all(
        running.map(
          ({ server }) =>
            new Promise((resolve) => {
              server.close(resolve);
              server.closeAllConnections();
            }),
        ),
      );
    },
  };
}

function demoEndpoints(workspace: Workspace): readonly DemoBackend[] {
  const all = workspace.objects().flatMap(({ candidate: { resource } }): readonly DemoBackend[] => {
    if (resource.kind !== 'EndpointSlice') return [];
    const { labels } = resource.meta;
    const owner = labels['kubernetes.io/service-name'] ?? labels['multicluster.kubernetes.io/service-name'];
    const service = `${resource.ref.namespace}/${owner ?? resource.ref.name}`;
    const ports = (resource.ports ?? []).flatMap(({ port }) => (port === undefined ? [] : [port]));
    const hosts = (resource.endpoints ?? [])
      .flatMap(({ addresses }) => addresses ?? [])
      .filter((host) => host.startsWith('127.') || host === '::1');
    return ports.flatMap((port) => hosts.map((host) => ({ service, host, port })));
  });
  return [...new Map(all.map((backend) => [`${backend.host} ${backend.port}`, backend])).values()];
}

async function start(
  backend: DemoBackend,
): Promise<{ readonly backend: DemoBackend; readonly server: Server } | undefined> {
  const server = createServer((request, response) => {
    request.resume();
    request.once('end', () => {
      const { method, url, headers } = request;
      const { port } = server.address() as AddressInfo;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        `${JSON.stringify({ backend: backend.service, endpoint: `${backend.host}:${port}`, method, path: url, headers }, null, 2)}\n`,
      );
    });
  });
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen({ host: backend.host, port: backend.port }, () => resolve({ backend, server }));
  });
}
