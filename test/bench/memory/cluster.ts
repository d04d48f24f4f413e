import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issueServingCertificate, type Authority } from '../../../src/certificates/authority.ts';
import { dataPlaneUser } from '../../../src/controller/index.ts';
import { findResource } from '../../support/api-server/resources.ts';
import { startFakeApiServer, type FakeApiServer } from '../../support/fake-api-server.ts';
import { deployed, type Component } from './components.ts';
import { definitions, gatewayName, gatewayObjects, namespaces, webhookObjects } from './objects.ts';

const account = '/var/run/secrets/kubernetes.io/serviceaccount';
const token = 'token-of-the-account';
/** Milliseconds. */
const bookmarkInterval = 60_000;
/** Every token is one of the data plane. */
const dataPlaneOf = () => dataPlaneUser(...(gatewayName.split('/') as [string, string]));

/** Starts an API server with the objects, and writes the files with which a pod authenticates there. */
export async function startCluster(authority: Authority, routes: number): Promise<FakeApiServer> {
  const certificate = await issueServingCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'] });
  const server = await startFakeApiServer({ certificate, token, userOf: dataPlaneOf });
  for (const name of namespaces)
    insert(server, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, 'namespaces');
  for (const definition of definitions()) insert(server, definition, 'customresourcedefinitions');
  for (const object of [...gatewayObjects(routes), ...webhookObjects()]) insert(server, object);
  // As a real one: clients end a watch that is silent for minutes.
  setInterval(() => server.watches.bookmark(), bookmarkInterval).unref();
  await mkdir(account, { recursive: true });
  await writeFile(join(account, 'ca.crt'), authority.certificate);
  await writeFile(join(account, 'token'), token);
  await writeFile(join(account, 'namespace'), 'sallyport-system');
  return server;
}

/** Stores an object, as if somebody had created it. */
export function insert({ store }: FakeApiServer, object: object, plural = pluralOf(object)): void {
  const { apiVersion } = object as { readonly apiVersion: string };
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const resource = findResource(store, { group, version, plural });
  if (resource === undefined) throw new Error(`${plural} of ${apiVersion} are not served`);
  store.insert(resource, object as Record<string, unknown>);
}

function pluralOf(object: object): string {
  const { kind } = object as { readonly kind: string };
  return `${kind.toLowerCase()}${kind.endsWith('Class') ? 'es' : 's'}`;
}

/** The environment in which a pod finds the API server. */
export function environmentOf({ url }: FakeApiServer): Readonly<Record<string, string>> {
  const { hostname, port } = new URL(url);
  return { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port, POD_NAMESPACE: 'sallyport-system' };
}

/** The port of a replica of the webhook, and of the controller's channel. Replicas are counted from 1. */
export const webhookPort = (replica: number): number => 10_250 + replica;
export const channelPort = (replica: number): number => 8443 + replica;

/** The watchdog, and two replicas of the webhook and of the controller. The leader is started first. */
export function controlPlane(): readonly Component[] {
  const webhook = (replica: number): Component => ({
    name: `webhook ${replica}`,
    args: ['webhook', `--port=${webhookPort(replica)}`, `--identity=webhook-${replica}`],
    probePort: 8080 + replica,
    ...deployed('deploy/base/webhook.yaml'),
  });
  const controller = (name: string, replica: number): Component => ({
    name: `controller ${replica}, ${name}`,
    args: [
      'controller',
      `--port=${channelPort(replica)}`,
      `--identity=controller-${replica}`,
      '--image=example.com/sallyport',
    ],
    probePort: 8090 + replica,
    ...deployed('deploy/controller/controller.yaml'),
  });
  return [
    { name: 'watchdog', args: ['watchdog'], probePort: 8070, ...deployed('deploy/base/watchdog.yaml') },
    webhook(1),
    webhook(2),
    controller('leader', 1),
    controller('standby', 2),
  ];
}
