import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ObjectChange, WireObject } from '../../../src/controller/ports.ts';
import { DriftDetector } from '../../../src/controller/drift-detector.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const desired: WireObject = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { namespace: 'shop', name: 'web', labels: { app: 'web' }, annotations: {} },
  spec: { template: { containers: [{ name: 'proxy', image: 'ours', resources: { cpu: '0.5' } }] } },
};

interface Differences {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly image?: string;
  readonly replicas?: number;
}

/** The object as an API server keeps it, with defaults and fields of others. */
function stored(
  version: number,
  { labels = { app: 'web' }, annotations, image = 'ours', replicas = 1 }: Differences = {},
): WireObject {
  const containers = [
    { name: 'proxy', image, resources: { cpu: '500m' }, terminationMessagePath: '/dev/termination-log' },
  ];
  return {
    metadata: {
      namespace: 'shop',
      name: 'web',
      uid: 'u',
      resourceVersion: String(version),
      labels,
      ...(annotations && { annotations }),
    },
    spec: { replicas, template: { containers } },
    status: { replicas },
  };
}

const ref = { group: 'apps', kind: 'Deployment', namespace: 'shop', name: 'web' };

function started() {
  const told: string[] = [];
  const detector = new DriftDetector({
    onDrift: (gateway, { kind }) => void told.push(`${kind} of ${gateway}`),
    pace: { maxWrites: 2, window: 1_000 },
  });
  const see = (object: WireObject): void => detector.observe({ type: 'upsert', ref, object });
  const drop = (): void => detector.observe({ type: 'delete', ref } satisfies ObjectChange);
  const apply = (version: number): void => {
    detector.applying('shop/web', desired);
    detector.applied(desired, stored(version));
  };
  return { told, detector, see, drop, apply };
}

describe('the drift detector', () => {
  test('of fields that were applied, as the API server writes them; defaults and fields of others do not matter', () => {
    const { told, see, apply } = started();
    apply(9);
    see(stored(9));
    see(
      stored(10, {
        replicas: 7,
        labels: { app: 'web', theirs: 'yes' },
        annotations: { 'deployment.kubernetes.io/revision': '1' },
      }),
    );
    expect(told).toEqual([]);
    see(stored(11, { replicas: 7, image: 'theirs' }));
    expect(told).toEqual(['Deployment of shop/web']);
  });

  test.each([
    ['a label is gone', stored(10, { labels: { app: '' } })],
    [
      'a container was added before ours',
      { ...stored(10), spec: { template: { containers: [{ name: 'theirs' }, { name: 'proxy' }] } } },
    ],
    ['the whole of it is gone', { metadata: { namespace: 'shop', name: 'web', resourceVersion: '10' } }],
  ])('%s', (_name, object) => {
    const { told, see, apply } = started();
    apply(9);
    see(object);
    expect(told).toHaveLength(1);
  });

  test('a change is told once, until the object was applied anew', () => {
    const { told, see, apply } = started();
    apply(9);
    see(stored(10, { image: 'theirs' }));
    see(stored(11, { image: 'theirs' }));
    expect(told).toHaveLength(1);
    apply(12);
    see(stored(13, { image: 'theirs' }));
    expect(told).toHaveLength(2);
  });

  test('what was so before it was applied is no change, however late it is heard of', () => {
    const { told, detector, see, apply } = started();
    detector.applying('shop/web', desired);
    see(stored(8, { image: 'former' }));
    detector.applied(desired, stored(10));
    see(stored(9, { image: 'former' }));
    expect(told).toEqual([]);
    apply(100);
    see(stored(99, { image: 'former' }));
    expect(told).toEqual([]);
  });

  test('what changes while it is applied is told when that is done', () => {
    const { told, detector, see, drop } = started();
    detector.applying('shop/web', desired);
    see(stored(11, { image: 'theirs' }));
    expect(told).toEqual([]);
    detector.applied(desired, stored(10));
    expect(told).toHaveLength(1);
    detector.applying('shop/web', desired);
    drop();
    detector.applied(desired, stored(12));
    expect(told).toHaveLength(2);
  });

  test('objects that were not applied, or are forgotten, do not matter', () => {
    const { told, detector, see, drop, apply } = started();
    see(stored(1));
    drop();
    apply(9);
    detector.forget(desired);
    drop();
    expect(told).toEqual([]);
  });

  test('who does it again and again is left alone for a while', () => {
    const { told, see, apply } = started();
    for (let version = 1; version < 20; version += 2) {
      apply(version);
      see(stored(version + 1, { image: 'theirs' }));
    }
    expect(told).toHaveLength(2);
    jest.advanceTimersByTime(1_000);
    expect(told).toHaveLength(3);
  });

  test('nothing is told after the end', () => {
    const { told, detector, see, drop, apply } = started();
    for (const version of [1, 3, 5]) {
      apply(version);
      see(stored(version + 1, { image: 'theirs' }));
    }
    detector.stop();
    drop();
    jest.advanceTimersByTime(10_000);
    expect(told).toHaveLength(2);
  });
});
