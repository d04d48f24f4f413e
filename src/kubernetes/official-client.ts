/** What is used of the official client. The build bundles this file once for all programs, because it is larger than all of them. */
export { KubeConfig } from '@kubernetes/client-node';
