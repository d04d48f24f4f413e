import { setImmediate } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { AuthorityRotation } from '../../src/certificates/authority-rotation.ts';
import { ManagedCertificate } from '../../src/certificates/managed-certificate.ts';
import type { RotationPolicy } from '../../src/certificates/rotation.ts';
import type { BundleStore, SecretStore } from '../../src/certificates/index.ts';
import { createLogger } from '../../src/telemetry/index.ts';
import { MemoryBundleStore, MemorySecretStore } from '../support/certificate-stores.ts';

/** So short that one run sees several rotations. */
const policy: RotationPolicy = { authorityLifetime: 90, leafLifetime: 10, propagation: 6, clockSkew: 4 };
const log = createLogger('silent');
/** No two clocks are further apart than the policy says. */
const offset = fc.constantFrom(-policy.clockSkew / 2, 0, policy.clockSkew / 2);

/** Holds calls back until they are let through, in their order. */
class Gate {
  private readonly waiting: (() => void)[] = [];

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  pass(): Promise<void> {
    return new Promise((resolve) => void this.waiting.push(resolve));
  }

  async release(): Promise<void> {
    this.waiting.shift()?.();
    await setImmediate();
  }
}

/** Three replicas and an API server, in a world where every call takes as long as the test wants. */
class Cluster {
  now = 1_000_000;
  readonly secrets = new MemorySecretStore();
  readonly bundles = new MemoryBundleStore();
  readonly replicas: readonly Replica[];
  /** Every bundle the API server may still work with, by when a newer one came. */
  private views: { readonly certificates: readonly string[]; replacedAt: number }[] = [];
  issued = 0;

  constructor(clocks: readonly number[]) {
    this.bundles.cell.write([]);
    this.view();
    this.bundles.onChange(() => this.view());
    this.replicas = clocks.map((offset) => new Replica(this, offset));
  }

  private view(): void {
    const last = this.views.at(-1);
    if (last !== undefined) last.replacedAt = this.now;
    this.views.push({ certificates: this.bundles.cell.value ?? [], replacedAt: Infinity });
  }

  /** No API server is further behind than the policy says, so none may fail to verify any leaf that is served. */
  verify(): void {
    // Where nothing was ever trusted, no call worked before either.
    const views = this.views.filter(
      ({ certificates, replacedAt }) => certificates.length > 0 && replacedAt > this.now - policy.propagation,
    );
    for (const { leaf } of this.replicas) {
      if (leaf === undefined || leaf.notAfter <= this.now) continue;
      if (!views.every(({ certificates }) => certificates.includes(leaf.authority)))
        throw new Error(`${leaf.authority} is not trusted everywhere`);
    }
  }
}

class Replica {
  private readonly cluster: Cluster;
  /** Before and after each of its calls. */
  readonly gate = new Gate();
  private readonly clock: () => number;
  private readonly certificate: ManagedCertificate;
  private leader: AuthorityRotation;
  private lives = 0;
  private readonly busy = new Set<'leading' | 'renewing'>();

  constructor(cluster: Cluster, offset: number) {
    this.cluster = cluster;
    this.clock = () => cluster.now + offset;
    this.leader = this.newLeader();
    this.certificate = new ManagedCertificate({
      secrets: this.slow(cluster.secrets, () => true),
      names: { dnsNames: ['a'], ipAddresses: [] },
      policy,
      log,
      now: this.clock,
      issue: async ({ certificate }) => {
        await this.gate.pass();
        return { certificate, privateKey: '' };
      },
    });
  }

  get leaf() {
    return this.certificate.leaf;
  }

  lead(): void {
    void this.once('leading', () => this.leader.round());
  }

  renew(): void {
    void this.once('renewing', () => this.certificate.round());
  }

  /** One round at a time, as `startRounds` keeps it; what a crash cut off has failed. */
  private async once(work: 'leading' | 'renewing', round: () => Promise<unknown>): Promise<void> {
    if (this.busy.has(work)) return;
    this.busy.add(work);
    try {
      await round();
    } catch (error) {
      if (!(error instanceof Error && error.message === 'crashed')) throw error;
    }
    this.busy.delete(work);
  }

  /** What was under way is never finished; what it remembered is gone. */
  crash(): void {
    this.lives += 1;
    this.leader = this.newLeader();
  }

  private newLeader(): AuthorityRotation {
    const life = this.lives;
    const alive = (): boolean => life === this.lives;
    return new AuthorityRotation({
      secrets: this.slow(this.cluster.secrets, alive),
      bundles: this.slow(this.cluster.bundles, alive),
      policy,
      log,
      now: this.clock,
      // The authorities of the model are names only.
      unusable: async () => undefined,
      issue: async (issuedAt, notAfter) => ({
        certificate: `authority ${++this.cluster.issued}`,
        privateKey: 'key',
        issuedAt,
        notAfter,
      }),
    });
  }

  /** Each call waits for its turn before it reaches the store, and again before the answer arrives. */
  private slow<Store extends SecretStore | BundleStore>(store: Store, alive: () => boolean): Store {
    const turn = async <T>(call: () => Promise<T>): Promise<T> => {
      await this.gate.pass();
      if (!alive()) throw new Error('crashed');
      const answer = await call();
      await this.gate.pass();
      if (!alive()) throw new Error('crashed');
      return answer;
    };
    return new Proxy(store, {
      get: (target, name) => {
        const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>;
        return (...args: unknown[]) => turn(() => Reflect.apply(method, target, args));
      },
    });
  }
}

const who = fc.nat({ max: 2 });
const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ type: fc.constant('lead' as const), who }) },
  { weight: 3, arbitrary: fc.record({ type: fc.constant('renew' as const), who }) },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('proceed' as const), who, calls: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constant('work' as const), who, turns: fc.integer({ min: 1, max: 8 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('pass' as const),
      time: fc.constantFrom(1, 3, policy.propagation, policy.leafLifetime, 20, 40),
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('crash' as const), who }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

async function play(cluster: Cluster, step: Action): Promise<void> {
  if (step.type === 'pass') {
    cluster.now += step.time;
    return;
  }
  const replica = cluster.replicas[step.who];
  if (replica === undefined) return;
  switch (step.type) {
    case 'lead':
      return replica.lead();
    case 'renew':
      return replica.renew();
    case 'crash':
      return replica.crash();
    case 'proceed':
      for (let call = 0; call < step.calls; call++) {
        await replica.gate.release();
        cluster.verify();
      }
      return;
    case 'work':
      // The others hang meanwhile, with what they have read.
      for (let turn = 0; turn < step.turns; turn++, cluster.now++) await takeTurn(cluster, replica);
  }
}

/** A round of everything that a replica does. */
async function takeTurn(cluster: Cluster, replica: Replica): Promise<void> {
  replica.lead();
  replica.renew();
  while (!replica.gate.isEmpty) {
    await replica.gate.release();
    cluster.verify();
  }
}

/** Everybody works again, nobody crashes, time passes evenly. */
async function settle(cluster: Cluster, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++, cluster.now++)
    for (const replica of cluster.replicas) await takeTurn(cluster, replica);
}

test('no API server ever meets a leaf that it cannot verify, whatever crashes, races and lags', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(offset, offset, offset),
      fc.array(action, { minLength: 30, maxLength: 120, size: 'max' }),
      async (clocks, steps) => {
        const cluster = new Cluster(clocks);
        await settle(cluster, 5);
        for (const step of steps) {
          await play(cluster, step);
          cluster.verify();
        }
        await settle(cluster, 30);
        for (const { leaf } of cluster.replicas) {
          expect(leaf?.notAfter).toBeGreaterThan(cluster.now);
          expect(cluster.bundles.cell.value).toContain(leaf?.authority);
        }
      },
    ),
    { numRuns: 200 },
  );
}, 60_000);
