import { createClient, loadCredentials } from '../../src/kubernetes/index.ts';
import { kubernetesContract } from '../contract/kubernetes.ts';

kubernetesContract('a real API server', async () => {
  const client = createClient(await loadCredentials('default'));
  return { client, close: () => client.close() };
});
