import { mayHaveMore } from '../../fairness/shared-quota.ts';
import { ExpiringSet } from '../limits/expiring-set.ts';
import type { Aging } from '../limits/expiring-set.ts';
import type { UpstreamFailure } from '../messages/forwarder.ts';
import type { ProxyLimits } from '../limits/limits.ts';
import { LinkedList, LinkedNode } from '../limits/linked-list.ts';
import type { Quotas } from '../limits/quota.ts';
import { TurnOrder } from '../limits/turn-order.ts';

/** A request that waits for a connection. */
export interface Waiter {
  /** The client's address. */
  readonly client: string;
  /** Defined while it waits: removes it from the queue. */
  leave: (() => void) | undefined;
  fail(failure: UpstreamFailure): void;
}

/** A client with requests at the endpoint, or requests that wait for it. */
interface Client<T> {
  readonly address: string;
  /** Places that its requests hold. */
  places: number;
  /** Its waiting requests, with or without a place. */
  waiting: number;
  /** Its requests that wait for a place, in order of arrival. */
  readonly line: LinkedList<WaitingEntry<T>>;
}

class WaitingEntry<T> implements Aging {
  readonly waiter: T;
  readonly client: Client<T>;
  /** Among the requests that wait for a place, or for a connection. */
  readonly node = new LinkedNode<WaitingEntry<T>>(this);
  renewedAt = 0;
  hasPlace = false;

  constructor(waiter: T, client: Client<T>) {
    this.waiter = waiter;
    this.client = client;
  }
}

type QueueLimits = Pick<ProxyLimits, 'waitingPerEndpoint' | 'waitTimeout'>;

/**
 * The requests that wait for a connection to one endpoint, limited in number and time. There are as many places as the
 * endpoint has concurrent requests. A request first waits for a place, then for a connection, and holds the place until
 * `release`.
 *
 * Clients share the places. A single client leaves some of them free for others. If several clients wait for places,
 * the client with the fewest gets the next one.
 */
export class WaitingQueue<T extends Waiter> {
  /** All waiting requests, by age. */
  private readonly entries: ExpiringSet<WaitingEntry<T>>;
  /** Waiting requests that have a place. */
  private readonly ready = new LinkedList<WaitingEntry<T>>();
  private readonly clients = new Map<string, Client<T>>();
  /** Clients with requests that wait for a place. */
  private readonly turns = new TurnOrder<Client<T>>();
  private places: number;
  private taken = 0;
  private readonly limits: QueueLimits;
  private readonly quotas: Pick<Quotas, 'waiting' | 'reached'>;

  /** `places` is the endpoint's limit of concurrent requests. */
  constructor(places: number, limits: QueueLimits, quotas: Pick<Quotas, 'waiting' | 'reached'>) {
    this.places = places;
    this.limits = limits;
    this.quotas = quotas;
    this.entries = new ExpiringSet(limits.waitTimeout, (overdue) => this.expire(overdue));
  }

  /** Number of requests that have a place and wait for a connection. */
  get size(): number {
    return this.ready.size;
  }

  /** Changes the endpoint's limit of concurrent requests. */
  resize(places: number): void {
    this.places = places;
    this.admit();
  }

  /** Takes a place for a request that does not wait for a connection; `false` if it has to wait for a place. */
  enter(address: string): boolean {
    const client = this.client(address);
    const isFree = this.hasPlaceFor(client);
    if (isFree) this.givePlace(client);
    else this.forget(client);
    return isFree;
  }

  /** A request that had a place has ended, or no longer needs it. */
  release(address: string): void {
    this.takePlace(this.client(address));
    this.admit();
  }

  /** Adds a request to the queue. If there is no room it fails as `busy`, after the caller has returned. */
  add(waiter: T): void {
    const client = this.client(waiter.client);
    if (!this.hasRoom(client)) {
      this.forget(client);
      queueMicrotask(() => waiter.fail('busy'));
      return;
    }
    const entry = new WaitingEntry(waiter, client);
    this.entries.add(entry);
    client.waiting += 1;
    waiter.leave = () => this.drop(entry);
    if (this.hasPlaceFor(client)) {
      this.makeReady(entry);
      return;
    }
    client.line.append(entry.node);
    if (client.line.size === 1) this.turns.add(client, client.places);
  }

  /** The request that has waited longest with a place. */
  get first(): T | undefined {
    return this.ready.first?.value.waiter;
  }

  /** Removes and returns the request that has waited longest with a place. It keeps the place. */
  take(): T | undefined {
    const entry = this.ready.first?.value;
    if (entry === undefined) return undefined;
    this.entries.delete(entry);
    this.removed(entry);
    return entry.waiter;
  }

  /** Removes and returns all requests. They lose their places. */
  takeAll(): readonly T[] {
    const waiters: T[] = [];
    for (let entry = this.entries.first; entry !== undefined; entry = this.entries.first) {
      waiters.push(entry.waiter);
      this.drop(entry);
    }
    return waiters;
  }

  private hasRoom(client: Client<T>): boolean {
    const { waitingPerEndpoint } = this.limits;
    const { size } = this.entries;
    if (mayHaveMore(client.waiting, size, waitingPerEndpoint)) return this.quotas.waiting.take(client.address);
    this.quotas.reached(size < waitingPerEndpoint ? 'client-share' : 'endpoint-waiting');
    return false;
  }

  /** Gives free places to the next clients. */
  private admit(): void {
    for (let client = this.turns.first; client !== undefined; client = this.turns.first) {
      const entry = client.line.first?.value;
      if (entry === undefined || !this.hasPlaceFor(client)) return;
      client.line.remove(entry.node);
      if (client.line.size === 0) this.turns.delete(client, client.places);
      this.makeReady(entry);
    }
  }

  private hasPlaceFor({ places }: Client<T>): boolean {
    return mayHaveMore(places, this.taken, this.places);
  }

  private makeReady(entry: WaitingEntry<T>): void {
    entry.hasPlace = true;
    this.ready.append(entry.node);
    this.givePlace(entry.client);
  }

  private givePlace(client: Client<T>): void {
    this.taken += 1;
    this.hold(client, client.places + 1);
  }

  private takePlace(client: Client<T>): void {
    this.taken -= 1;
    this.hold(client, client.places - 1);
    this.forget(client);
  }

  private hold(client: Client<T>, places: number): void {
    if (client.line.size > 0) this.turns.delete(client, client.places);
    client.places = places;
    if (client.line.size > 0) this.turns.add(client, places);
  }

  private client(address: string): Client<T> {
    const known = this.clients.get(address);
    if (known !== undefined) return known;
    const client: Client<T> = { address, places: 0, waiting: 0, line: new LinkedList() };
    this.clients.set(address, client);
    return client;
  }

  private forget(client: Client<T>): void {
    if (client.places === 0 && client.waiting === 0) this.clients.delete(client.address);
  }

  /** Removes an aborted request and passes on its place. */
  private drop(entry: WaitingEntry<T>): void {
    if (this.entries.delete(entry)) this.dropped(entry);
  }

  private dropped(entry: WaitingEntry<T>): void {
    this.removed(entry);
    if (!entry.hasPlace) return;
    this.takePlace(entry.client);
    this.admit();
  }

  private removed(entry: WaitingEntry<T>): void {
    const { client, waiter } = entry;
    waiter.leave = undefined;
    this.quotas.waiting.release(client.address);
    client.waiting -= 1;
    const isLast = entry.node.list === client.line && client.line.size === 1;
    entry.node.list?.remove(entry.node);
    if (isLast) this.turns.delete(client, client.places);
    this.forget(client);
  }

  private expire(overdue: readonly WaitingEntry<T>[]): void {
    for (const entry of overdue) this.dropped(entry);
    for (const { waiter } of overdue) {
      this.quotas.reached('wait-time');
      waiter.fail('busy');
    }
  }
}
