import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { EventRecorder, type EventNote } from '../../../src/kubernetes/index.ts';
import { eventually } from '../../support/eventually.ts';
import { kubernetesStage, type KubernetesStage } from '../../support/kubernetes.ts';

let stage: KubernetesStage;
let recorder: EventRecorder;

beforeEach(async () => {
  stage = await kubernetesStage();
  recorder = new EventRecorder({ ...stage, controller: 'sallyport.dev/controller', instance: 'pod-a' });
});

afterEach(async () => {
  await recorder.stop();
  await stage.close();
});

function note(changes: Partial<EventNote> = {}): EventNote {
  const regarding = { apiVersion: 'gateway.networking.k8s.io/v1', kind: 'GatewayClass', name: 'internal' };
  return { regarding, type: 'Normal', reason: 'Accepted', action: 'Judging', note: 'all is well', ...changes };
}

const stored = () => stage.server.store.list('events.events.k8s.io');

describe('events', () => {
  test('say who, what and when; about cluster-scoped objects in the default namespace', async () => {
    recorder.record(note());
    await recorder.flush();
    expect(stored()).toEqual([
      expect.objectContaining({
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        eventTime: '2026-01-01T00:00:00.000000Z',
        reportingController: 'sallyport.dev/controller',
        reportingInstance: 'pod-a',
        regarding: note().regarding,
        type: 'Normal',
        reason: 'Accepted',
        action: 'Judging',
        note: 'all is well',
        metadata: expect.objectContaining({
          namespace: 'default',
          name: expect.stringMatching(/^internal\.[0-9a-f]{16}$/),
        }),
      }),
    ]);
  });

  test('that repeat cost one write a minute, and begin anew after a long silence', async () => {
    for (let second = 0; second < 180; second++) {
      recorder.record(note());
      stage.clock.advance(1_000);
    }
    await recorder.flush();
    expect(stage.server.audit.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'PATCH']);
    expect(stored()).toEqual([
      expect.objectContaining({ series: { count: 121, lastObservedTime: '2026-01-01T00:02:00.000000Z' } }),
    ]);
    stage.clock.advance(400_000);
    recorder.record(note());
    await recorder.flush();
    expect(stored()).toHaveLength(2);
  });

  test('whose series is gone begin anew', async () => {
    recorder.record(note());
    await recorder.flush();
    for (const event of stored()) stage.server.store.delete('events.events.k8s.io', event);
    for (let time = 0; time < 2; time++) {
      stage.clock.advance(61_000);
      recorder.record(note());
      await recorder.flush();
    }
    expect(stored()).toHaveLength(1);
  });

  test('about one object are ten at most, and one more each minute', async () => {
    for (let number = 0; number < 30; number++) recorder.record(note({ note: `number ${number}` }));
    recorder.record(note({ regarding: { ...note().regarding, name: 'other' } }));
    await recorder.flush();
    expect(stored()).toHaveLength(11);
    stage.clock.advance(120_000);
    for (let number = 30; number < 40; number++) recorder.record(note({ note: `number ${number}` }));
    await recorder.flush();
    expect(stored()).toHaveLength(13);
  });

  test('keep nobody waiting, and are dropped where the server fails', async () => {
    stage.server.fail({ when: () => true, act: { code: 403, reason: 'Forbidden' } });
    recorder.record(note());
    recorder.record(note({ reason: 'Second' }));
    await recorder.flush();
    expect(stored().map((event) => event['reason'])).toEqual(['Second']);
  });

  test('of a namespace with many do not displace or delay those of others', async () => {
    const { regarding } = note();
    const about = (namespace: string, name: string) => note({ regarding: { ...regarding, namespace, name } });
    for (let number = 0; number < 300; number++) recorder.record(about('busy', `route-${number}`));
    recorder.record(about('calm', 'route'));
    await recorder.flush();
    const namespaces = stage.server.audit.map(({ path }) => path.split('/')[5]);
    expect(namespaces).toHaveLength(201);
    expect(namespaces.indexOf('calm')).toBeLessThanOrEqual(2);
  });

  test('that wait are dropped at the end', async () => {
    stage.server.fail({ when: () => true, act: 'hang' });
    for (let number = 0; number < 5; number++) recorder.record(note({ note: `number ${number}` }));
    await eventually(() => expect(stage.server.audit).toHaveLength(1));
    await recorder.stop();
    expect(stage.server.audit).toHaveLength(1);
    expect(stage.clock.waiting).toBe(0);
  });

  test('that differ only in what is cut off are the same', async () => {
    for (const end of ['one', 'two', 'three']) recorder.record(note({ note: `${'x'.repeat(32_000)} ${end}` }));
    await recorder.flush();
    expect(stage.server.audit.map(({ method }) => method)).toEqual(['POST']);
  });

  test('fit, whatever they say', async () => {
    recorder.record(note({ note: '€'.repeat(5_000), reason: 'R'.repeat(500) }));
    await recorder.flush();
    const [event] = stored();
    expect(Buffer.byteLength(String(event?.['note']))).toBeLessThanOrEqual(1_024);
    expect(event?.['note']).toMatch(/^€{300,}…$/);
    expect(event?.['reason']).toHaveLength(128);
  });
});
