import { pathOf, type ApiClient, type ResourceType } from '../kubernetes/index.ts';
import { UsageError } from './usage-error.ts';

const pods: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

interface PodImages {
  readonly spec?: { readonly containers?: readonly { readonly name?: string; readonly image?: string }[] };
}

/**
 * The image of the controller's container in a pod. Injected sidecars may precede it. If no container has its name, the first one counts.
 *
 * @throws UsageError if there is no image; ApiError, ConnectionError if the pod cannot be read
 */
export async function imageOfPod(
  client: ApiClient,
  pod: { readonly namespace: string; readonly name: string },
): Promise<string> {
  const { spec } = (await client.request({ path: pathOf(pods, pod) })) as PodImages;
  const containers = spec?.containers ?? [];
  const { image } = containers.find(({ name }) => name === 'controller') ?? containers[0] ?? {};
  if (image === undefined)
    throw new UsageError(`pod "${pod.namespace}/${pod.name}" has no image; set the data plane image with --image`);
  return image;
}
