import { describe, expect, test } from '@jest/globals';
import type { ApiClient, ApiRequest } from '../../../src/kubernetes/client.ts';
import { apiError } from '../../../src/kubernetes/errors.ts';
import { Election } from '../../../src/kubernetes/lease.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** A request that is under way until the test answers it. */
interface Pending {
  readonly request: ApiRequest;
  /** Stores what was written and answers with it. */
  readonly accept: () => Promise<void>;
  readonly refuse: (status: number) => Promise<void>;
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
};

/** A candidate whose writes the test answers; reads are answered at once. Answers come whether or not anybody waits. */
function enter() {
  const clock = new ManualClock();
  const writes: Pending[] = [];
  const terms: AbortSignal[] = [];
  let stored: unknown;
  const client: ApiClient = {
    namespace: undefined,
    request(request) {
      if (request.method === undefined)
        return stored === undefined ? Promise.reject(apiError(404, {})) : Promise.resolve(stored);
      return new Promise((resolve, reject) => {
        writes.push({
          request,
          accept() {
            stored = request.body;
            resolve(stored);
            return turns();
          },
          refuse(status) {
            reject(apiError(status, {}));
            return turns();
          },
        });
      });
    },
    stream: () => {
      throw new Error('a lease needs no stream');
    },
    close: () => Promise.resolve(),
  };
  const election = new Election({
    client,
    clock,
    log: createLogger('silent'),
    namespace: 'default',
    name: 'controller',
    identity: 'pod-a',
    lead: (term) => void terms.push(term),
  });
  const pass = async (milliseconds: number): Promise<void> => {
    clock.advance(milliseconds);
    await turns();
  };
  const write = (index: number): Pending => {
    const found = writes[index];
    if (found === undefined) throw new Error(`only ${writes.length} writes were sent`);
    return found;
  };
  /** Stores the record of another candidate. */
  const steal = (): void => {
    stored = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: 'controller', namespace: 'default' },
      spec: { holderIdentity: 'pod-b', leaseDurationSeconds: 15 },
    };
  };
  return { clock, election, terms, pass, write, steal };
}

/** A leader since 0 s whose first renewal was sent at 2 s and is not answered. */
async function renewing() {
  const entered = enter();
  await turns();
  await entered.write(0).accept();
  expect(entered.election.isLeader()).toBe(true);
  await entered.pass(2_000);
  expect(entered.write(1).request.method).toBe('PUT');
  return entered;
}

describe('a term', () => {
  test('starts when the request for the lease was sent, not when it was answered', async () => {
    const { election, pass, write } = enter();
    await turns();
    await pass(4_000);
    await write(0).accept();
    expect(election.isLeader()).toBe(true);
    await pass(5_999);
    expect(election.isLeader()).toBe(true);
    await pass(1);
    expect(election.isLeader()).toBe(false);
  });

  test('does not start when the answer comes after its end', async () => {
    const { election, pass, write } = enter();
    await turns();
    await pass(10_000);
    await write(0).accept();
    expect(election.isLeader()).toBe(false);
  });

  test('is renewed from the time at which the renewal was sent', async () => {
    const { election, terms, pass, write } = await renewing();
    await pass(4_000);
    await write(1).accept();
    await pass(2_000);
    expect(write(2).request.method).toBe('PUT');
    await pass(3_999);
    expect(election.isLeader()).toBe(true);
    expect(terms[0]?.aborted).toBe(false);
    await pass(1);
    expect(election.isLeader()).toBe(false);
    expect(terms[0]?.aborted).toBe(true);
  });

  test('that has ended stays ended when the answer to a renewal comes late', async () => {
    const { election, terms, pass, write } = await renewing();
    await pass(8_000);
    expect(terms[0]?.aborted).toBe(true);
    await write(1).accept();
    expect(election.isLeader()).toBe(false);
    expect(terms.map(({ aborted }) => aborted)).toEqual([true]);
    // The lease is still this candidate's, so it is given back.
    expect(write(2).request.body).toMatchObject({ spec: { holderIdentity: '' } });
    await write(2).accept();
    expect(election.isLeader()).toBe(false);
  });

  test('that has ended stays ended when the answer to a renewal comes before the late timer', async () => {
    const { clock, election, terms, pass, write } = await renewing();
    await pass(4_000);
    clock.pass(4_000);
    expect(election.isLeader()).toBe(false);
    await write(1).accept();
    expect(election.isLeader()).toBe(false);
    expect(terms.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test('ends at once when another candidate has the lease', async () => {
    const { election, terms, write, steal } = await renewing();
    steal();
    await write(1).refuse(409);
    expect(terms[0]?.aborted).toBe(true);
    expect(election.isLeader()).toBe(false);
    expect(election.holder).toBe('pod-b');
  });

  test('goes on when a renewal fails and the next one succeeds', async () => {
    const { election, terms, pass, write } = await renewing();
    await write(1).refuse(500);
    await pass(2_000);
    await write(2).accept();
    await pass(9_000);
    expect(election.isLeader()).toBe(true);
    expect(terms.map(({ aborted }) => aborted)).toEqual([false]);
  });
});
