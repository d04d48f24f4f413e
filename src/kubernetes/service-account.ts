import { access } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, join } from 'node:path';
import { readSmallText } from '../files/read-file.ts';
import type { Credentials } from './credentials.ts';

/** Where the kubelet mounts the token, the authority and the namespace of a pod's ServiceAccount. */
const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Credentials of the pod's ServiceAccount. Token and authority are read again for each proof, because the kubelet renews them.
 *
 * @param folder the folder of the mounted files
 * @returns `undefined` outside of a pod
 */
export async function serviceAccountCredentials(folder = mounted): Promise<Credentials | undefined> {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port = '443' } = process.env;
  if (host === undefined || host === '' || !(await exists(join(folder, 'token')))) return undefined;
  const read = async (name: string): Promise<string> => (await readSmallText(join(folder, name))).trim();
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: await read('namespace').catch(() => undefined),
    proxy: undefined,
    async prove() {
      const [token, ca] = await Promise.all([read('token'), read('ca.crt')]);
      return { headers: { authorization: `Bearer ${token}` }, tls: { ca } };
    },
  };
}

/** Whether kubectl would use a kubeconfig: one that the environment names, or the one in the home folder. */
export async function hasKubeconfig(): Promise<boolean> {
  return (await defaultKubeconfigs()).length > 0;
}

/** The kubeconfigs that kubectl would use, merged in this order. Those that the environment names may not exist. */
export async function defaultKubeconfigs(): Promise<readonly string[]> {
  const { KUBECONFIG: named = '', HOME: home = '' } = process.env;
  if (named !== '') return named.split(delimiter).filter((file) => file !== '');
  const file = join(home, '.kube', 'config');
  return home !== '' && (await exists(file)) ? [file] : [];
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
