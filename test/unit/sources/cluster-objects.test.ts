import { afterEach, expect, test } from '@jest/globals';
import { ApiError, type ApiClient, type KubernetesObject } from '../../../src/kubernetes/index.ts';
import { collect, listPermitted } from '../../../src/sources/cluster-objects.ts';
import { RoomForObjects } from '../../../src/sources/room-for-objects.ts';
import { configMaps, kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';

const kibibyte = 1_024;
/** Room for four objects with texts of 1 KiB. */
const room = () => new RoomForObjects(8 * kibibyte);

/** A client of an API server that always sends another page with one object of 1 KiB, and counts the pages. */
function endless(answer: (page: number) => void = () => undefined) {
  let pages = 0;
  const client: Pick<ApiClient, 'request'> = {
    request({ onText }) {
      pages += 1;
      // A command without a limit would run out of memory.
      if (pages > 100) throw new Error('too many requests');
      answer(pages);
      onText?.(kibibyte);
      const items = [{ metadata: { name: `one-${pages}`, namespace: 'default' } }];
      return Promise.resolve({ metadata: { resourceVersion: '1', continue: `page-${pages}` }, items });
    },
  };
  return { client: client as ApiClient, pages: () => pages };
}

test('a list without an end is given up when there is no room for its objects', async () => {
  const { client, pages } = endless();
  await expect(collect(client, { type: configMaps }, room())).rejects.toThrow(
    'the cluster has more objects than this process has room for',
  );
  expect(pages()).toBe(5);
});

test('all lists of a command share the room', async () => {
  const shared = room();
  const place = { namespace: undefined, room: shared };
  const { client, pages } = endless();
  const listed = { kind: 'ConfigMap', type: configMaps, undiscovered: undefined } as const;
  shared.take({ objects: [{}, {}, {}], characters: 3 * kibibyte });
  await expect(listPermitted(client, listed, place)).rejects.toThrow('more objects than this process has room for');
  expect(pages()).toBe(2);
});

test('a list that begins again gives the room of its objects back', async () => {
  const expired = new ApiError({
    status: 410,
    reason: 'Expired',
    message: 'expired',
    retryAfter: undefined,
    causes: [],
  });
  const { client, pages } = endless((page) => {
    if (page === 4) throw expired;
  });
  await expect(collect(client, { type: configMaps }, room())).rejects.toThrow('more objects');
  // Three pages, the one that failed, and five.
  expect(pages()).toBe(9);
});

let stage: KubernetesStage | undefined;
afterEach(() => stage?.close());

test('the text of objects takes room', async () => {
  stage = await kubernetesStage();
  const long: KubernetesObject = {
    metadata: { name: 'long', namespace: 'default' },
    data: { text: 'x'.repeat(8_192) },
  };
  seed(stage, configMaps, long);
  await expect(collect(stage.client, { type: configMaps }, room())).rejects.toThrow('more objects');
  expect(await collect(stage.client, { type: configMaps })).toHaveLength(1);
});
