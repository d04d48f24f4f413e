import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Election, mergePatch, type KubernetesObject } from '../../../src/kubernetes/index.ts';
import { eventually } from '../../support/eventually.ts';
import type { AuditEntry } from '../../support/fake-api-server.ts';
import { kubernetesStage, seed, type KubernetesStage } from '../../support/kubernetes.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const leaseType = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', plural: 'leases', namespaced: true };

let stage: KubernetesStage;
const candidates: Election[] = [];

beforeEach(async () => {
  stage = await kubernetesStage();
});

afterEach(async () => {
  // Nobody waits for a hanging server.
  await stage.client.close();
  await Promise.all(candidates.splice(0).map((candidate) => candidate.stop()));
  await stage.close();
});

interface Candidate {
  readonly election: Election;
  readonly terms: AbortSignal[];
}

function enter(
  identity: string,
  {
    clock = stage.clock,
    lead = () => {},
  }: { clock?: ManualClock; lead?: (term: AbortSignal) => Promise<void> | void } = {},
): Candidate {
  const terms: AbortSignal[] = [];
  const election = new Election({
    ...stage,
    clock,
    namespace: 'default',
    name: 'controller',
    identity,
    lead(term) {
      terms.push(term);
      return lead(term);
    },
  });
  candidates.push(election);
  return { election, terms };
}

const isWrite = ({ method }: AuditEntry) => method === 'PUT';
const writes = () => stage.server.audit.filter(({ method }) => method === 'PUT' || method === 'POST').length;

function lease(): KubernetesObject | undefined {
  return stage.server.store.get('leases.coordination.k8s.io', 'default', 'controller');
}

/** Lets time pass in small steps, giving requests a chance in between. */
async function pass(milliseconds: number, clock = stage.clock): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += 500) {
    clock.advance(500);
    for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
  }
}

describe('a leader', () => {
  test('writes what others need to know', async () => {
    const { election } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    const time = '2026-01-01T00:00:00.000000Z';
    expect(lease()?.['spec']).toEqual({
      holderIdentity: 'pod-a',
      leaseDurationSeconds: 15,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    });
    stage.clock.advance(2_000);
    await eventually(() =>
      expect(lease()?.['spec']).toMatchObject({ acquireTime: time, renewTime: '2026-01-01T00:00:02.000000Z' }),
    );
    expect(election.isLeader()).toBe(true);
  });

  test('goes on while renewals succeed, through short troubles', async () => {
    const { election, terms } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    for (const act of [{ code: 500 }, 'reset', 'deaf'] as const) {
      stage.server.fail({ when: isWrite, act });
      await pass(9_000);
      expect(election.isLeader()).toBe(true);
    }
    expect(terms).toHaveLength(1);
    expect(lease()?.['spec']).toMatchObject({ leaseTransitions: 0 });
  });

  test('survives one renewal that hangs', async () => {
    const { election, terms } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    stage.server.fail({ when: isWrite, act: 'hang' });
    await pass(20_000);
    expect(election.isLeader()).toBe(true);
    expect(terms).toHaveLength(1);
  });

  test('stops leading ten seconds after the last renewal when the API server hangs', async () => {
    const { election, terms } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    for (let time = 0; time < 20; time++) stage.server.fail({ when: () => true, act: 'hang' });
    await pass(9_500);
    expect(election.isLeader()).toBe(true);
    expect(terms[0]?.aborted).toBe(false);
    stage.clock.advance(500);
    expect(election.isLeader()).toBe(false);
    await eventually(() => expect(terms[0]?.aborted).toBe(true));
  });

  test('that slept too long knows before its timers do', async () => {
    class SleepyClock extends ManualClock {
      skipped = 0;
      override now(): number {
        return super.now() + this.skipped;
      }
    }
    const clock = new SleepyClock();
    const { election, terms } = enter('pod-a', { clock });
    await eventually(() => expect(election.isLeader()).toBe(true));
    clock.skipped = 10_000;
    expect(election.isLeader()).toBe(false);
    expect(terms[0]?.aborted).toBe(false);
  });

  test('leads again, in a new term, when the API server answers again', async () => {
    const { election, terms } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    for (let time = 0; time < 5; time++) stage.server.fail({ when: isWrite, act: 'hang' });
    await pass(10_000);
    expect(terms[0]?.aborted).toBe(true);
    await pass(60_000);
    expect(election.isLeader()).toBe(true);
    expect(terms.map(({ aborted }) => aborted)).toEqual([true, false]);
  });

  test('ends its term at once when another holds the lease', async () => {
    const { election, terms } = enter('pod-a');
    await eventually(() => expect(election.isLeader()).toBe(true));
    await mergePatch(
      { client: stage.client, type: leaseType },
      { namespace: 'default', name: 'controller' },
      { spec: { holderIdentity: 'thief' } },
    );
    stage.clock.advance(2_000);
    await eventually(() => expect(terms[0]?.aborted).toBe(true));
    expect(election.isLeader()).toBe(false);
    expect(election.holder).toBe('thief');
    expect(lease()?.['spec']).toMatchObject({ holderIdentity: 'thief' });
  });

  test('that stops ends its term, waits for the work, then gives the lease back', async () => {
    const work = Promise.withResolvers<void>();
    const { election, terms } = enter('pod-a', { lead: () => work.promise });
    await eventually(() => expect(election.isLeader()).toBe(true));
    const stopped = election.stop();
    expect(terms[0]?.aborted).toBe(true);
    expect(election.isLeader()).toBe(false);
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate);
    expect(lease()?.['spec']).toMatchObject({ holderIdentity: 'pod-a' });
    work.resolve();
    await stopped;
    expect(lease()?.['spec']).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
    expect(stage.clock.waiting).toBe(0);
  });

  test('whose work fails gives the lease back and stands again', async () => {
    let attempts = 0;
    const { election, terms } = enter('pod-a', {
      lead: () => {
        attempts += 1;
        if (attempts === 1) throw new Error('a bug');
      },
    });
    await eventually(() => expect(lease()?.['spec']).toMatchObject({ holderIdentity: '' }));
    expect(election.isLeader()).toBe(false);
    await pass(5_000);
    expect(election.isLeader()).toBe(true);
    expect(terms.map(({ aborted }) => aborted)).toEqual([true, false]);
    expect(stage.logged.some((line) => line.includes('a bug'))).toBe(true);
  });
});

describe('a candidate', () => {
  test('waits until it has itself seen the record unchanged for as long as it says', async () => {
    const leader = enter('pod-a');
    await eventually(() => expect(leader.election.isLeader()).toBe(true));
    // Another machine, whose clock shows something else.
    const clock = new ManualClock();
    clock.advance(1_000_000);
    const { election } = enter('pod-b', { clock });
    await eventually(() => expect(election.holder).toBe('pod-a'));
    await pass(10_000, clock);
    stage.clock.advance(2_000);
    await eventually(() => expect(writes()).toBe(2));
    await pass(14_500, clock);
    expect(election.isLeader()).toBe(false);
    await pass(8_000, clock);
    expect(election.isLeader()).toBe(true);
    expect(lease()?.['spec']).toMatchObject({ holderIdentity: 'pod-b', leaseTransitions: 1 });
  });

  test('takes over a lease that has changed hands as often as its API can count', async () => {
    const most = 2 ** 31 - 1;
    seed(stage, leaseType, {
      kind: 'Lease',
      metadata: { name: 'controller' },
      spec: { holderIdentity: 'pod-b', leaseDurationSeconds: 15, leaseTransitions: most },
    });
    const { election } = enter('pod-a');
    await eventually(() => expect(election.holder).toBe('pod-b'));
    await pass(20_000);
    expect(election.isLeader()).toBe(true);
    expect(lease()?.['spec']).toMatchObject({ holderIdentity: 'pod-a', leaseTransitions: most });
  });

  test('at most one leads, whoever comes when, and whatever fails', async () => {
    const all = ['pod-a', 'pod-b', 'pod-c'].map((identity) => enter(identity));
    const acts = ['reset', 'deaf', { code: 500 }, { code: 409, reason: 'Conflict' }, 'hang'] as const;
    let isLed = false;
    for (let round = 0; round < 60; round++) {
      const act = acts[(round * 7) % acts.length];
      if (round < 40 && act !== undefined) stage.server.fail({ when: () => true, act });
      if (round === 50) await all.find(({ election }) => election.isLeader())?.election.stop();
      await pass(2_000);
      const leaders = all.filter(({ election }) => election.isLeader());
      expect(leaders.length).toBeLessThanOrEqual(1);
      isLed ||= leaders.length === 1;
    }
    expect(isLed).toBe(true);
    await eventually(() => expect(all.filter(({ election }) => election.isLeader())).toHaveLength(1));
  });
});
