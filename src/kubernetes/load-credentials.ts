import { dirname, resolve } from 'node:path';
import { recordOf, recordsOf } from '../core/text/record.ts';
import type { Credentials, Proof } from './credentials.ts';
import { largeFile, readSmallText, readText, requireRegular, smallFile } from '../files/read-file.ts';
import { messageOf } from './errors.ts';
import { limitPlugins } from './exec-plugins.ts';
import type { KubeConfig } from './official-client.ts';
import { readProxy } from './proxy-tunnel.ts';
import { defaultKubeconfigs, hasKubeconfig, serviceAccountCredentials } from './service-account.ts';
import { withoutTrailing } from '../core/text/trim.ts';

/** `default` as in kubectl, the pod's ServiceAccount, or a kubeconfig file and a context other than its current one. */
export type CredentialSource = 'default' | 'in-cluster' | { readonly kubeconfig?: string; readonly context?: string };

/**
 * Loads kubeconfig or in-cluster credentials. Supports the files, exec plugins and providers of the official client. It is loaded
 * for kubeconfigs only, because it takes a third of a second and 55 MiB, and a pod with a ServiceAccount does not need it.
 *
 * @throws with a message for people if the file is not found or invalid, or has no cluster
 */
export async function loadCredentials(source: CredentialSource): Promise<Credentials> {
  const account = await accountFor(source);
  if (account !== undefined) return account;
  const named = typeof source === 'string' ? undefined : source.kubeconfig;
  const files = named === undefined ? await defaultKubeconfigs() : [named];
  await requireEachRegular(files, largeFile);
  const tokenFiles = await tokenFilesOf(files);
  const config = await loadKubeconfig(named);
  if (typeof source !== 'string' && source.context !== undefined) config.setCurrentContext(source.context);
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new Error(`the kubeconfig has no cluster for its context ${JSON.stringify(config.getCurrentContext())}`);
  const user = config.getCurrentUser();
  await requireEachRegular([cluster.caFile, user?.certFile, user?.keyFile], smallFile);
  limitPlugins(config);
  if (cluster.proxyUrl?.startsWith('socks') === true)
    throw new Error('SOCKS proxies in front of the API server are not supported; use an HTTP proxy');
  if (cluster.proxyUrl !== undefined) readProxy(cluster.proxyUrl);
  return {
    server: withoutTrailing(cluster.server, '/'),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace,
    proxy: cluster.proxyUrl,
    prove: () => prove(config, user === null ? undefined : tokenFiles.get(user.name)),
  };
}

/** The files with the tokens of users, by the name of the user. The official client ignores them, and reads those of a field of its own. */
async function tokenFilesOf(files: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const file of files)
    for (const { name, user } of recordsOf(recordOf(await parseLeniently(await readText(file, largeFile)))['users'])) {
      const { tokenFile, 'token-file': other } = recordOf(user);
      if (typeof other === 'string') await requireRegular(other, smallFile);
      if (typeof name === 'string' && typeof tokenFile === 'string' && tokenFile !== '')
        found.set(name, resolve(dirname(file), tokenFile));
    }
  return found;
}

/** The official client reports invalid text. */
async function parseLeniently(text: string): Promise<unknown> {
  const { load } = await import('js-yaml');
  try {
    return load(text);
  } catch {
    return undefined;
  }
}

async function loadKubeconfig(file: string | undefined): Promise<KubeConfig> {
  const { KubeConfig } = await import('./official-client.ts');
  const config = new KubeConfig();
  try {
    if (file === undefined) config.loadFromDefault();
    else config.loadFromFile(file);
  } catch (error) {
    throw new Error(`the kubeconfig is invalid: ${messageOf(error)}`, { cause: error });
  }
  return config;
}

/** The official client would wait for the writer of a pipe, and read a device without end. */
async function requireEachRegular(files: readonly (string | undefined)[], limit: number): Promise<void> {
  for (const file of files) if (file !== undefined) await requireRegular(file, limit);
}

/** @throws if in-cluster credentials are required and there are none */
async function accountFor(source: CredentialSource): Promise<Credentials | undefined> {
  if (source === 'default') return (await hasKubeconfig()) ? undefined : serviceAccountCredentials();
  if (source !== 'in-cluster') return undefined;
  const account = await serviceAccountCredentials();
  if (account === undefined)
    throw new Error(
      'not running in a pod with a ServiceAccount (KUBERNETES_SERVICE_HOST or its token is not set); use a kubeconfig',
    );
  return account;
}

interface Config {
  applyToHTTPSOptions(options: object): Promise<void>;
}

/** The options that the official client would pass to node:https. A token in a file takes precedence, and may be renewed there, as in kubectl. */
async function prove(config: Config, tokenFile: string | undefined): Promise<Proof> {
  const options: Options = {};
  await config.applyToHTTPSOptions(options);
  const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  const basic =
    options.auth === undefined ? {} : { authorization: `Basic ${Buffer.from(options.auth).toString('base64')}` };
  const bearer = tokenFile === undefined ? {} : { authorization: `Bearer ${(await readSmallText(tokenFile)).trim()}` };
  return {
    headers: { ...basic, ...Object.fromEntries(headers), ...bearer },
    tls: {
      ...pem('ca', options.ca),
      ...pem('cert', options.cert),
      ...pem('key', options.key),
      ...(options.servername === undefined ? {} : { servername: options.servername }),
      ...(options.rejectUnauthorized === undefined ? {} : { rejectUnauthorized: options.rejectUnauthorized }),
    },
  };
}

interface Options {
  headers?: Readonly<Record<string, unknown>>;
  auth?: string;
  ca?: Buffer | string;
  cert?: Buffer | string;
  key?: Buffer | string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

function pem(
  name: 'ca' | 'cert' | 'key',
  value: Buffer | string | undefined,
): Partial<Record<'ca' | 'cert' | 'key', string>> {
  return value === undefined ? {} : { [name]: String(value) };
}
