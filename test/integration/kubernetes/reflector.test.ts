import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { AuditEntry } from '../../support/fake-api-server.ts';
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
const following: Followed[] = [];

beforeEach(async () => {
  stage = await kubernetesStage();
});

afterEach(async () => {
  await Promise.all(following.splice(0).map(({ reflector }) => reflector.stop()));
  await stage.close();
});

function start(...options: Parameters<typeof follow> extends [unknown, ...infer Rest] ? Rest : never): Followed {
  const followed = follow(stage, ...options);
  following.push(followed);
  return followed;
}

const isWatch = ({ query }: AuditEntry) => query['watch'] === 'true';
/** A list of one object only asks for the present version. */
const isList = (request: AuditEntry) => request.method === 'GET' && !isWatch(request) && request.query['limit'] !== '1';
const lists = () => stage.server.audit.filter(isList);
const watches = () => stage.server.audit.filter(isWatch);

function add(name: string, data: Record<string, string> = {}): void {
  seed(stage, configMaps, { metadata: { name }, data });
}

function drop(name: string): void {
  const object = stage.server.store.get('configmaps.', 'default', name);
  if (object === undefined) throw new Error(`there is no ${name}`);
  stage.server.store.delete('configmaps.', object);
}

/** Waits until the watch is open. */
async function watching(count = 1): Promise<void> {
  await eventually(() => expect(stage.server.watches.count).toBe(count));
}

/** Lets time pass until a pause is over and the watch is open again. */
async function recovered(): Promise<void> {
  await eventually(() => {
    stage.clock.advance(1_000);
    expect(stage.server.watches.count).toBe(1);
  });
}

describe('lists', () => {
  test('are read in pages of 500, and the watch begins where the list was made', async () => {
    for (let number = 0; number < 1_200; number++) add(`map-${number}`);
    const version = String(stage.server.store.version);
    const { reflector, objects } = start();
    await reflector.whenSynced;
    await watching();
    expect(objects.size).toBe(1_200);
    expect(reflector.size).toBe(1_200);
    expect(lists().map(({ query }) => query['limit'])).toEqual(['500', '500', '500']);
    expect(lists().map(({ query }) => 'continue' in query)).toEqual([false, true, true]);
    expect(watches()[0]?.query).toMatchObject({
      resourceVersion: version,
      allowWatchBookmarks: 'true',
      timeoutSeconds: '360',
    });
  });

  test('of large objects are read in smaller pages, which grow again behind them', async () => {
    add('map-a-0', { text: 'x'.repeat(5_000_000) });
    for (let number = 1; number <= 6; number++) add(`map-a-${number}`, { text: 'x'.repeat(1_000_000) });
    for (let number = 0; number < 40; number++) add(`map-b-${number}`);
    const { reflector, objects } = start();
    await reflector.whenSynced;
    expect(objects.size).toBe(47);
    // Only one object alone may take more than 4 MiB.
    const pages = stage.server.audit.filter((request) => !isWatch(request));
    expect(pages.map(({ query }) => query['limit'])).toEqual(
      [500, 125, 32, 8, 2, 1, 2, 4, 8, 16, 32].map((limit) => String(limit)),
    );
    expect(reflector.problem).toBeUndefined();
  });

  test('that expire between pages begin anew, and nothing stays that went meanwhile', async () => {
    for (let number = 0; number < 600; number++) add(`map-${String(number).padStart(3, '0')}`);
    stage.server.fail({ when: ({ query }) => query['continue'] !== undefined, act: { code: 410, reason: 'Expired' } });
    const { reflector, objects, steps } = start({
      before: () => {
        if (stage.server.store.get('configmaps.', 'default', 'map-000') !== undefined) drop('map-000');
      },
    });
    await reflector.whenSynced;
    expect(objects.size).toBe(599);
    expect(steps).toHaveLength(601);
    expect(lists()).toHaveLength(4);
    expect(stage.clock.slept.filter((delay) => delay < 30_000)).toEqual([]);
  });

  test.each([
    ['forbidden', { code: 403, reason: 'Forbidden' }],
    ['broken', 'reset'],
    ['no JSON', { code: 200, body: '<html>' }],
    ['no list', { code: 200, body: '{"kind":"Pod"}' }],
    ['of something else', { code: 200, body: '{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{}}]}' }],
  ] as const)('that are %s are asked for again, after a pause', async (_name, act) => {
    add('one');
    stage.server.fail({ when: isList, act });
    const { reflector, steps } = start();
    await eventually(() => expect(reflector.problem).toBeDefined());
    expect(reflector.synced).toBe(false);
    expect(stage.clock.slept.at(-1)).toBe(600);
    stage.clock.advance(600);
    await reflector.whenSynced;
    expect(steps).toEqual(['upsert one']);
    expect(reflector.problem).toBeUndefined();
  });

  test('that get no answer are given up after 30 seconds', async () => {
    stage.server.fail({ when: isList, act: 'hang' });
    const { reflector } = start();
    await eventually(() => expect(lists()).toHaveLength(1));
    stage.clock.advance(30_000);
    await eventually(() => expect(reflector.problem).toMatch(/no answer .* within 30000 ms/));
    stage.clock.advance(1_000);
    await reflector.whenSynced;
  });

  test.each([429, 503])('refused by a busy server (%i) wait as long as it says', async (code) => {
    stage.server.fail({ when: isList, act: { code, reason: 'TooManyRequests', retryAfter: 7 } });
    const { reflector } = start();
    await eventually(() => expect(reflector.problem).toBeDefined());
    expect(stage.clock.slept.at(-1)).toBeGreaterThanOrEqual(7_000);
    expect(stage.clock.slept.at(-1)).toBeLessThanOrEqual(7_700);
  });

  test('that go on failing are asked for ever more rarely, but at least twice a minute', async () => {
    for (let time = 0; time < 9; time++) stage.server.fail({ when: isList, act: { code: 500 } });
    const { reflector } = start();
    for (let time = 1; time <= 9; time++) {
      await eventually(() => expect(lists()).toHaveLength(time));
      await eventually(() => expect(stage.clock.slept.filter((delay) => delay !== 30_000)).toHaveLength(time));
      stage.clock.advance(30_000);
    }
    await reflector.whenSynced;
    expect(stage.clock.slept.filter((delay) => delay !== 30_000 && delay < 100_000)).toEqual([
      600, 1_200, 2_400, 4_800, 9_600, 19_200, 22_500, 22_500, 22_500,
    ]);
  });
});

describe('watches', () => {
  async function inStep(...names: readonly string[]): Promise<Followed> {
    for (const name of names) add(name);
    const followed = start();
    await followed.reflector.whenSynced;
    await watching();
    followed.steps.length = 0;
    return followed;
  }

  test('go on where they were when the connection breaks, without a list', async () => {
    const { steps, reflector } = await inStep('one');
    add('two');
    await eventually(() => expect(steps).toEqual(['upsert two']));
    const version = String(stage.server.store.version);
    stage.server.watches.cut();
    await watching(0);
    drop('one');
    add('three');
    await recovered();
    await eventually(() => expect(steps).toEqual(['upsert two', 'delete one', 'upsert three']));
    expect(watches().at(-1)?.query['resourceVersion']).toBe(version);
    expect(lists()).toHaveLength(1);
    expect(reflector.problem).toBeUndefined();
  });

  test('that end in time go on at once, from the last bookmark', async () => {
    const { reflector } = await inStep();
    seed(stage, { ...configMaps, kind: 'Secret', plural: 'secrets' }, { metadata: { name: 'elsewhere' } });
    const version = String(stage.server.store.version);
    stage.server.watches.bookmark();
    stage.clock.advance(1_500);
    await eventually(() => expect(reflector.lastContact).toBe(0));
    const pauses = stage.clock.slept.length;
    stage.server.watches.end();
    await eventually(() => expect(watches()).toHaveLength(2));
    expect(watches().at(-1)?.query['resourceVersion']).toBe(version);
    expect(stage.clock.slept.slice(pauses).filter((delay) => delay < 30_000)).toEqual([]);
  });

  test.each(['', '0'])('whose last bookmark has the version "%s" go on from the place before', async (version) => {
    const { steps, reflector } = await inStep('one');
    const bookmark = { type: 'BOOKMARK', object: { metadata: { resourceVersion: version } } };
    stage.server.watches.write(`${JSON.stringify(bookmark)}\n`);
    stage.clock.advance(1_500);
    await eventually(() => expect(reflector.lastContact).toBe(0));
    stage.server.watches.cut();
    await watching(0);
    drop('one');
    await recovered();
    await eventually(() => expect(steps).toEqual(['delete one']));
  });

  test.each([
    ['', () => undefined],
    [', even with a bookmark,', () => stage.server.watches.bookmark()],
    [', even with an event,', () => add('one')],
  ])('that end as soon as they begin%s are not hammered', async (_name, send) => {
    await inStep();
    send();
    stage.server.watches.end();
    await eventually(() => expect(stage.clock.slept.at(-1)).toBe(600));
    expect(watches()).toHaveLength(1);
  });

  test('whose place is forgotten begin with a list, which tells what changed and what went', async () => {
    const { steps, objects } = await inStep('kept', 'changed', 'gone', 'remade');
    const kept = objects.get('kept');
    stage.server.watches.cut();
    await watching(0);
    for (const name of ['changed', 'gone', 'remade']) drop(name);
    add('changed', { new: 'yes' });
    add('remade');
    stage.server.expire();
    await recovered();
    await eventually(() => expect(lists()).toHaveLength(2));
    expect(steps).toEqual(['delete changed', 'upsert changed', 'delete remade', 'upsert remade', 'delete gone']);
    expect(objects.get('kept')).toBe(kept);
  });

  test.each([
    ['is no JSON', '{"type":"ADDED", nonsense}\n'],
    ['is no event', '{"type":"SURPRISE","object":{}}\n'],
    ['has no object', '{"type":"ADDED","object":{"metadata":{}}}\n'],
  ])('with a line that %s begin with a list: nothing is lost unseen', async (_name, line) => {
    const { steps } = await inStep('one');
    stage.server.watches.write(line);
    await watching(0);
    drop('one');
    await recovered();
    expect(lists()).toHaveLength(2);
    expect(steps).toEqual(['delete one']);
  });

  test('cut in the middle of a line lose nothing', async () => {
    const { steps } = await inStep();
    stage.server.watches.write('{"type":"ADDED","object":{"metadata":{"na');
    stage.server.watches.cut();
    await watching(0);
    add('one');
    await recovered();
    await eventually(() => expect(steps).toEqual(['upsert one']));
  });

  test('told of an error do what stands before it, then pause as long as the server says', async () => {
    const { steps, reflector } = await inStep('one');
    const event = { type: 'DELETED', object: stage.server.store.get('configmaps.', 'default', 'one') };
    const error = {
      type: 'ERROR',
      object: { code: 429, reason: 'TooManyRequests', message: 'busy', details: { retryAfterSeconds: 9 } },
    };
    stage.server.watches.write(`${JSON.stringify(event)}\n${JSON.stringify(error)}\n`);
    await eventually(() => expect(reflector.problem).toBe('busy'));
    expect(steps).toEqual(['delete one']);
    expect(stage.clock.slept.at(-1)).toBeGreaterThanOrEqual(9_000);
  });

  test('of a deleted and remade object tell both, even when the delete went unseen', async () => {
    const { steps } = await inStep('one');
    const { metadata } = stage.server.store.get('configmaps.', 'default', 'one') ?? { metadata: {} };
    stage.server.watches.write(
      `${JSON.stringify({ type: 'MODIFIED', object: { metadata: { ...metadata, uid: 'another', resourceVersion: '5000' } } })}\n`,
    );
    await eventually(() => expect(steps).toEqual(['delete one', 'upsert one']));
  });

  test('that fall silent begin with a list: bookmarks would have come', async () => {
    const { reflector } = await inStep();
    for (const pause of [1, 179_000, 179_000]) {
      stage.clock.advance(pause);
      expect(reflector.lastContact).toBe(pause);
      stage.server.watches.bookmark();
      await eventually(() => expect(reflector.lastContact).toBe(0));
    }
    expect(watches()).toHaveLength(1);
    stage.clock.advance(180_000);
    await eventually(() => expect(reflector.problem).toMatch(/nothing was heard/));
    stage.clock.advance(1_000);
    await eventually(() => expect(reflector.problem).toBeUndefined());
    expect(lists()).toHaveLength(2);
  });

  describe('of an API server that was restored from a backup', () => {
    /** Changes objects after a backup, and restores it while the watch is open. */
    async function restored(): Promise<Followed> {
      const followed = await inStep('changed', 'gone');
      const backup = stage.server.store.backUp();
      drop('changed');
      add('changed', { since: 'backup' });
      drop('gone');
      add('new');
      await eventually(() => expect(followed.objects.has('new')).toBe(true));
      stage.server.store.restore(backup);
      followed.steps.length = 0;
      return followed;
    }

    test.each([
      ['a bookmark', () => stage.server.watches.bookmark()],
      ['an event', () => add('another')],
    ])('begin with a list after %s of an earlier version', async (_name, send) => {
      const { objects, reflector } = await restored();
      send();
      await watching(0);
      await recovered();
      await eventually(() => expect(lists()).toHaveLength(2));
      const present = () => Object.fromEntries([...objects].map(([name, { data }]) => [name, data]));
      await eventually(() => expect(present()).toMatchObject({ changed: {}, gone: {} }));
      expect(present()).not.toHaveProperty('new');
      expect(present()['changed']).toEqual({});
      await eventually(() => expect(reflector.problem).toBeUndefined());
      add('last');
      await eventually(() => expect(objects.has('last')).toBe(true));
      expect(lists()).toHaveLength(2);
    });

    test('do not begin at a version that it has not reached', async () => {
      const { objects } = await restored();
      stage.server.watches.cut();
      await watching(0);
      await recovered();
      expect(lists()).toHaveLength(2);
      expect(watches().at(-1)?.query['resourceVersion']).toBe(String(stage.server.store.version));
      expect([...objects.keys()].toSorted()).toEqual(['changed', 'gone']);
    });

    test('read objects again whose uid and version are those of other contents', async () => {
      const { objects } = await inStep('one');
      const backup = stage.server.store.backUp();
      const write = async (data: object): Promise<void> => {
        await stage.client.request({
          method: 'PATCH',
          path: '/api/v1/namespaces/default/configmaps/one',
          contentType: 'application/merge-patch+json',
          body: { data },
        });
      };
      await write({ text: 'first' });
      const version = stage.server.store.version;
      add('two');
      await eventually(() => expect(objects.has('two')).toBe(true));
      stage.server.watches.cut();
      stage.server.store.restore(backup);
      await write({ text: 'second' });
      expect(stage.server.store.version).toBe(version);
      await recovered();
      expect(lists()).toHaveLength(2);
      await eventually(() => expect(objects.get('one')?.['data']).toEqual({ text: 'second' }));
      expect(objects.has('two')).toBe(false);
    });
  });

  test('find out that the kind is gone, and go on asking', async () => {
    const { reflector } = await inStep();
    stage.server.watches.cut();
    await watching(0);
    stage.server.fail({ when: isWatch, act: { code: 404, reason: 'NotFound' } });
    stage.server.fail({ when: isList, act: { code: 404, reason: 'NotFound' } });
    await recovered();
    expect(reflector.synced).toBe(true);
    expect(lists()).toHaveLength(3);
  });
});

describe('a reader that throws', () => {
  test('ends nothing, and gets what it missed with the next list', async () => {
    let isBroken = true;
    const { reflector, steps } = start({
      before: () => {
        if (isBroken) throw new Error('a bug');
      },
    });
    add('one');
    await reflector.whenSynced;
    await watching();
    add('two');
    await eventually(() =>
      expect(stage.logged.filter((line) => line.includes('a bug')).length).toBeGreaterThanOrEqual(1),
    );
    isBroken = false;
    add('three');
    await eventually(() => expect(steps).toContain('upsert three'));
    stage.clock.advance(2_000);
    stage.server.watches.end();
    await eventually(() => expect(steps.toSorted()).toEqual(['upsert one', 'upsert three', 'upsert two']));
  });

  test('is waited for: events never overtake each other', async () => {
    const gate = Promise.withResolvers<void>();
    let calls = 0;
    const { steps } = start({
      before: () => {
        calls += 1;
        return gate.promise;
      },
    });
    add('one');
    await eventually(() => expect(calls).toBe(1));
    add('two');
    gate.resolve();
    await eventually(() => expect(steps).toEqual(['upsert one', 'upsert two']));
  });
});

test('stopping leaves nothing behind, wherever it was', async () => {
  const { reflector, steps } = follow(stage);
  await reflector.whenSynced;
  await watching();
  await reflector.stop();
  await watching(0);
  expect(stage.clock.waiting).toBe(0);
  const paused = follow(stage);
  stage.server.fail({ when: isList, act: { code: 500 } });
  await eventually(() => expect(paused.reflector.problem).toBeDefined());
  await paused.reflector.stop();
  add('late');
  expect(stage.clock.waiting).toBe(0);
  expect([...steps, ...paused.steps]).toEqual([]);
});

test('retiring tells that everything is gone', async () => {
  add('one');
  add('two');
  const { reflector, steps } = follow(stage);
  await reflector.whenSynced;
  await reflector.retire();
  expect(steps).toEqual(['upsert one', 'upsert two', 'delete one', 'delete two']);
});
