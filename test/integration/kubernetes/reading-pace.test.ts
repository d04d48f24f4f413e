import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ReadingPace } from '../../../src/kubernetes/index.ts';
import { eventually } from '../../support/eventually.ts';
import {
  configMaps,
  follow,
  kubernetesStage,
  seed,
  type Followed,
  type KubernetesStage,
} from '../../support/kubernetes.ts';

let stage: KubernetesStage;
let followed: Followed;
let pace: ReadingPace;
/** Milliseconds. */
let length: number;
/** Milliseconds that the reader takes for events. */
let work: number;

beforeEach(async () => {
  stage = await kubernetesStage();
  // No test waits until a pause is over.
  length = 1_000_000;
  work = 0;
  pace = new ReadingPace(() => length);
  followed = follow(stage, { pace, before: () => stage.clock.advance(work) });
  await followed.reflector.whenSynced;
  await watching();
});

afterEach(async () => {
  await followed.reflector.stop();
  await stage.close();
});

function put(name: string, value = ''): void {
  const known = stage.server.store.get('configmaps.', 'default', name);
  if (known === undefined) seed(stage, configMaps, { metadata: { name }, data: { value } });
  else stage.server.store.replace('configmaps.', known, { ...known, data: { value } });
}

async function watching(): Promise<void> {
  await eventually(() => expect(stage.server.watches.count).toBe(1));
}

/** Begins a pause. */
async function receiveFirst(): Promise<void> {
  put('first');
  await eventually(() => expect(followed.steps).toEqual(['upsert first']));
}

test('the first events are read as they arrive', async () => {
  expect(pace.catchUp()).toBeUndefined();
  await receiveFirst();
});

test('events wait during a pause, and only the newest version of an object is read', async () => {
  await receiveFirst();
  put('one', 'a');
  put('two');
  put('one', 'b');
  await eventually(async () => {
    await pace.catchUp();
    expect(followed.objects.size).toBe(3);
    expect(followed.objects.get('one')).toMatchObject({ data: { value: 'b' } });
  });
  expect(followed.steps).toEqual(['upsert first', 'upsert two', 'upsert one']);
});

test('an object that is deleted and created again during a pause is reported as deleted', async () => {
  await receiveFirst();
  const first = stage.server.store.get('configmaps.', 'default', 'first');
  if (first === undefined) throw new Error('not found');
  stage.server.store.delete('configmaps.', first);
  put('first', 'again');
  await eventually(async () => {
    await pace.catchUp();
    expect(followed.steps).toEqual(['upsert first', 'delete first', 'upsert first']);
  });
});

test('everything that has arrived is read, however much', async () => {
  await receiveFirst();
  const large = 'x'.repeat(100_000);
  for (let number = 0; number < 50; number++) put(`large-${number}`, large);
  await eventually(async () => {
    await pace.catchUp();
    expect(followed.objects.size).toBe(51);
  });
});

test('a pause ends by itself', async () => {
  length = 1;
  await receiveFirst();
  put('second');
  await eventually(() => expect(followed.steps).toEqual(['upsert first', 'upsert second']));
});

test('without pauses, events are read as they arrive', async () => {
  length = 0;
  await receiveFirst();
  expect(pace.catchUp()).toBeUndefined();
  put('second');
  await eventually(() => expect(followed.steps).toEqual(['upsert first', 'upsert second']));
});

test('a watch that the server ends during a pause is resumed', async () => {
  await receiveFirst();
  put('second');
  stage.server.watches.end();
  put('third');
  await eventually(async () => {
    await pace.catchUp();
    stage.clock.advance(1_000);
    expect([...followed.objects.keys()].toSorted()).toEqual(['first', 'second', 'third']);
  });
});

test('a reflector stops during a pause', async () => {
  await receiveFirst();
  put('late');
  await followed.reflector.stop();
  expect(stage.server.watches.count).toBe(0);
});

test('events that take long are followed by a pause', async () => {
  length = 0;
  work = 5_000;
  await receiveFirst();
  put('one', 'a');
  put('one', 'b');
  const caughtUp = pace.catchUp();
  expect(caughtUp).toBeDefined();
  await caughtUp;
  await eventually(() => expect(followed.objects.get('one')).toMatchObject({ data: { value: 'b' } }));
});

test('ordinary events are not', async () => {
  length = 0;
  work = 5;
  await receiveFirst();
  expect(pace.catchUp()).toBeUndefined();
});
