import { pathOf, type ApiClient, type ResourceType } from '../kubernetes/index.ts';
import { UsageError } from './usage-error.ts';

const pods: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

interface PodImages {
  readonly spec?: { readonly containers?: readonly { readonly image?: string }[] };
}

/**
 * The image of a pod's first container.
 *
 * @throws UsageError where it names none; ApiError, ConnectionError where the pod cannot be read
 */
export async function imageOfPod(client: ApiClient, pod: { readonly namespace: string; readonly name: string }): Promise<string> {
  const { spec } = (await client.request({ path: pathOf(pods, pod) })) as PodImages;
  const image = spec?.containers?.[0]?.image;
  if (image === undefined) throw new UsageError(`pod ${pod.namespace}/${pod.name} names no image; give the image of data planes by --image`);
  return image;
}
