import { describe, expect, test } from '@jest/globals';
import { imageOfPod } from '../../../src/cli/own-image.ts';
import type { ApiClient } from '../../../src/kubernetes/index.ts';

function podWith(...containers: readonly object[]): ApiClient {
  const client: Pick<ApiClient, 'request'> = { request: async () => ({ spec: { containers } }) };
  return client as ApiClient;
}

const pod = { namespace: 'sallyport-system', name: 'controller-1' };

describe('the image of a pod', () => {
  test.each<[string, readonly object[]]>([
    ['that of its only container', [{ name: 'other', image: 'ours' }]],
    [
      'that of the controller, whoever has put others before it',
      [
        { name: 'mesh-proxy', image: 'theirs' },
        { name: 'controller', image: 'ours' },
      ],
    ],
  ])('is %s', async (_name, containers) => {
    expect(await imageOfPod(podWith(...containers), pod)).toBe('ours');
  });

  test('that names none is asked for', async () => {
    await expect(imageOfPod(podWith(), pod)).rejects.toThrow(
      'pod "sallyport-system/controller-1" has no image; set the data plane image with --image',
    );
  });
});
