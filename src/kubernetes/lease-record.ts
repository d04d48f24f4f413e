import { recordOf, type JsonRecord } from '../core/text/record.ts';
import type { ApiClient } from './client.ts';
import type { Clock } from '../time/clock.ts';
import { ApiError, isNotFound, ProtocolError } from './errors.ts';
import { isKubernetesObject, microTime, pathOf, type KubernetesObject, type ResourceType } from './object.ts';

export const leases: ResourceType = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/** The largest number that the API accepts: it rejects the whole Lease with a larger one, and nobody could take it over. */
const mostTransitions = 2 ** 31 - 1;

interface LeaseOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly namespace: string;
  readonly name: string;
  readonly identity: string;
}

interface Limits {
  readonly timeout: number;
  readonly signal?: AbortSignal;
}

/** One Lease as a candidate observes it: its holder, and how long the record has been unchanged. */
export class LeaseRecord {
  private readonly options: LeaseOptions;
  private readonly duration: number;
  private lease: KubernetesObject | undefined;
  private observed: { readonly spec: string; readonly at: number } | undefined;

  /** `duration`: milliseconds for which our own record is valid. */
  constructor(options: LeaseOptions, duration: number) {
    this.options = options;
    this.duration = duration;
  }

  /** The holder as last seen. `undefined` if there is none. */
  get holder(): string | undefined {
    const holder = this.spec['holderIdentity'];
    return typeof holder === 'string' && holder !== '' ? holder : undefined;
  }

  get isOurs(): boolean {
    return this.holder === this.options.identity;
  }

  /**
   * Acquires or renews the lease unless another candidate's record is still valid. Optimistic locking decides between candidates.
   *
   * @returns whether we hold the lease now
   * @throws errors of the client, except for a conflict with another candidate
   */
  async acquire(timeout: number, signal: AbortSignal): Promise<boolean> {
    const limits = { timeout, signal };
    // The leader knows its last write. If that is outdated, the server reports a conflict.
    if (!this.isOurs) await this.read(limits);
    if (this.holder !== undefined && !this.isOurs && !this.isExpired) return false;
    const isKnown = this.lease !== undefined;
    try {
      await this.write(this.nextSpec(), limits);
      return true;
    } catch (error) {
      const isLost = error instanceof ApiError && (error.status === 409 || (isNotFound(error) && isKnown));
      if (!isLost) throw error;
      await this.read(limits);
      return false;
    }
  }

  /** Releases the lease. */
  async release(timeout: number): Promise<void> {
    const now = microTime(this.options.clock.date());
    // The shortest possible duration, so that no candidate waits for a lease without a holder.
    const spec = { ...this.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await this.write(spec, { timeout });
  }

  private get spec(): JsonRecord {
    return recordOf(this.lease?.['spec']);
  }

  private get isExpired(): boolean {
    const seconds = this.spec['leaseDurationSeconds'];
    const duration = typeof seconds === 'number' ? seconds * 1000 : this.duration;
    return this.observed === undefined || this.observed.at + duration < this.options.clock.now();
  }

  private nextSpec(): JsonRecord {
    const now = microTime(this.options.clock.date());
    const transitions = this.spec['leaseTransitions'];
    const count = typeof transitions === 'number' ? transitions : 0;
    return {
      holderIdentity: this.options.identity,
      leaseDurationSeconds: Math.ceil(this.duration / 1000),
      acquireTime: this.isOurs ? this.spec['acquireTime'] : now,
      renewTime: now,
      leaseTransitions: this.isOurs || this.lease === undefined ? count : Math.min(count + 1, mostTransitions),
    };
  }

  private async read(limits: Limits): Promise<void> {
    const { client, namespace, name } = this.options;
    try {
      this.see(await client.request({ path: pathOf(leases, { namespace, name }), ...limits }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.lease = undefined;
      this.observed = undefined;
    }
  }

  private async write(spec: JsonRecord, limits: Limits): Promise<void> {
    const { client, namespace, name } = this.options;
    const metadata = this.lease?.metadata ?? { name, namespace };
    const body = { apiVersion: leases.apiVersion, kind: leases.kind, metadata, spec };
    const method = this.lease === undefined ? 'POST' : 'PUT';
    const path = pathOf(leases, this.lease === undefined ? { namespace } : { namespace, name });
    this.see(await client.request({ method, path, body, ...limits }));
  }

  private see(lease: unknown): void {
    if (!isKubernetesObject(lease)) throw new ProtocolError('the API server sent a response that is not a valid Lease');
    this.lease = lease;
    const spec = JSON.stringify(this.spec);
    if (this.observed?.spec !== spec) this.observed = { spec, at: this.options.clock.now() };
  }
}
