import { kubectl } from './kubectl.ts';

/**
 * Before all tests: says which cluster they use, and refuses one that is in use. Tests install and remove the CRDs of the
 * Gateway API, and with them every Gateway and route that there is.
 */
export default async function guard(): Promise<void> {
  const server = await kubectl(['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']);
  const version = await kubectl(['version', '-o', 'json', '--request-timeout=10s']);
  if (version.code !== 0)
    throw new Error(`no answer from the cluster of KUBECONFIG (${server.stdout}): ${version.stderr}`);
  console.log(`End-to-end tests use the cluster at ${server.stdout}`);
  if (process.env['CLUSTER_STATE'] !== undefined) return;
  const found = await kubectl(['get', 'gateways.gateway.networking.k8s.io', '-A', '-o', 'name']);
  if (found.code === 0 && found.stdout !== '') {
    throw new Error(
      `the cluster at ${server.stdout} holds Gateways, and these tests remove all of them; use a cluster made for tests`,
    );
  }
}
