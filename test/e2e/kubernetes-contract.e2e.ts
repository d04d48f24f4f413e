import { createClient, loadCredentials } from '../../src/kubernetes/index.ts';
import { kubernetesContract } from '../contract/kubernetes.ts';
import { reportStoreContract } from '../contract/report-store.ts';
import { clusterState } from './support/cluster.ts';

const ground = async () => {
  const client = createClient(await loadCredentials('default'));
  return { client, close: () => client.close() };
};

kubernetesContract('a real API server', ground);
// It removes the CRDs of reports, which other tools of a cluster of somebody else may use.
if (clusterState !== undefined) reportStoreContract('a real API server', ground);
