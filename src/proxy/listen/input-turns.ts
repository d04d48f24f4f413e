import { isAccepting } from '../../time/accepting.ts';
import { LinkedSet } from '../limits/linked-set.ts';
import { monotonicNow } from '../../time/clock.ts';
import { NextTurn } from '../../time/next-turn.ts';

/** Input that is handled in turns. */
export interface Input {
  /** The client's address. */
  readonly client: string;
  /** Whether there is input to handle. */
  readonly isHolding: boolean;
  /** Handles input up to `budget` of work; returns the work done. */
  feed(budget: number): number;
}

/** A client with input that waits, or that has taken more than its share. */
interface WaitingClient {
  readonly address: string;
  /** The next one first. */
  readonly inputs: LinkedSet<Input>;
  /** Work that it may do. Negative if it owes work: then it misses turns. */
  credit: number;
}

const inputPlace = Symbol('input');
const orderPlace = Symbol('order');

/** Work of the head of a request; a small frame of HTTP/2 is 1. */
export const requestWork = 10;
/** Bytes of a header section, and bytes of data, that count as the work of one frame. */
export const headerBytesPerWork = 64;
export const dataBytesPerWork = 4_096;

/**
 * Limit of work in one turn of the event loop for all clients together, before clients that have used their share must
 * wait. The unit is a small frame. A request is about ten units, and takes about a tenth of a millisecond. But some
 * requests cost much more than their input shows, for example with a large response that is not read. So the limit
 * halves after each long turn, and doubles after each short one.
 */
const maxPerTurn = 512;
const leastPerTurn = 64;
/** Milliseconds. */
const longTurn = 10;
/** Milliseconds from which the time of an input counts, and not its work: others take less, except when the machine is busy. */
const longInput = 1;
/** Milliseconds of long inputs in a turn after which further input waits, also that of clients that have done nothing. */
const mostLong = 20;
/** The work that usually takes a millisecond. */
const workPerMillisecond = 300;
/** The most that a client can owe. The time may have been that of other programs, or of the garbage collection. */
const maxDebt = 1_500;
/** The share of a turn's work that is guaranteed to each client. */
const share = 1 / 4;

/**
 * Divides the time of the event loop between clients. Each client has a limited amount of work per turn of the loop.
 * Further input waits and is served in turns, first by client and then by connection. So one client cannot delay others
 * by sending more, on any number of connections. Long input counts by its time: the client owes what it took beyond its share, and misses turns
 * until it has paid (deficit round robin). So clients with costly requests do not delay those with ordinary ones for long.
 */
export class InputTurns {
  /** Work in this turn, by client and in total. */
  private readonly done = new Map<string, number>();
  private total = 0;
  /** Milliseconds of the long inputs in this turn. */
  private long = 0;
  private perTurn = maxPerTurn;
  /** Time when the turn began, or when its first input arrived. */
  private began = 0;
  /** Clients with waiting input, by address. */
  private readonly waiting = new Map<string, WaitingClient>();
  /** The same, the next one first. */
  private readonly order = new LinkedSet<WaitingClient>(orderPlace);
  private readonly next = new NextTurn(() => this.turn());
  private readonly now: () => number;
  private readonly isBurst: () => boolean;

  /** `now` returns the time in milliseconds. `isBurst`: new connections wait to be accepted, one per turn. */
  constructor(now: () => number = monotonicNow, isBurst = isAccepting) {
    this.now = now;
    this.isBurst = isBurst;
  }

  /**
   * Handles input within its client's share of this turn, and the rest in later turns. Input that is already waiting
   * may be passed again.
   */
  take(input: Input): void {
    const { client } = input;
    if (!this.next.isRequested) this.began = this.now();
    if (this.waiting.size === 0 || !this.waiting.has(client)) this.serveNow(input);
    if (input.isHolding) this.wait(input);
    this.next.request();
  }

  /** Handles input of a client that does not wait. */
  private serveNow(input: Input): void {
    const { limit } = this;
    if (this.long >= mostLong) return;
    const left = limit - this.total;
    // What the client has done matters only if there is less than its share.
    const own = left >= share * limit ? 0 : share * limit - (this.done.get(input.client) ?? 0);
    const budget = Math.max(own, left);
    const debt = this.serve(input, budget) - budget;
    if (debt > 0 && budget > 0) this.waitingClient(input.client).credit = -Math.min(debt, maxDebt);
  }

  /** Limit of work in this turn. */
  private get limit(): number {
    return this.isBurst() ? leastPerTurn : this.perTurn;
  }

  /** Returns the work done, or what a long input would have done in its time. */
  private serve(input: Input, budget: number): number {
    if (budget <= 0) return 0;
    const began = this.now();
    const counted = input.feed(budget);
    const time = this.now() - began;
    const isLong = time >= longInput;
    if (isLong) this.long += time;
    const work = isLong ? Math.max(counted, time * workPerMillisecond) : counted;
    this.done.set(input.client, (this.done.get(input.client) ?? 0) + work);
    this.total += work;
    return work;
  }

  private wait(input: Input): void {
    const { inputs } = this.waitingClient(input.client);
    if (!inputs.has(input)) inputs.add(input);
  }

  private waitingClient(address: string): WaitingClient {
    let client = this.waiting.get(address);
    if (client === undefined) {
      client = { address, inputs: new LinkedSet(inputPlace), credit: 0 };
      this.waiting.set(address, client);
      this.order.add(client);
    }
    return client;
  }

  private turn(): void {
    this.done.clear();
    this.total = 0;
    this.long = 0;
    const now = this.now();
    this.perTurn =
      now - this.began > longTurn ? Math.max(leastPerTurn, this.perTurn / 2) : Math.min(maxPerTurn, this.perTurn * 2);
    this.began = now;
    while (this.order.size > 0 && this.total < this.limit) this.serveNext();
    if (this.order.size > 0) this.next.request();
  }

  /** Serves the longest waiting inputs of the next client, up to its share. */
  private serveNext(): void {
    const client = this.order.first;
    if (client === undefined) return;
    const { address, inputs } = client;
    this.order.delete(client);
    client.credit = Math.min(client.credit, 0) + share * this.limit;
    for (let left = inputs.size; left > 0 && client.credit > 0; left -= 1) {
      const input = inputs.first;
      if (input === undefined) break;
      inputs.delete(input);
      client.credit -= this.serve(input, client.credit);
      if (input.isHolding) this.wait(input);
    }
    client.credit = Math.max(client.credit, -maxDebt);
    if (inputs.size > 0 || client.credit < 0) this.order.add(client);
    else this.waiting.delete(address);
  }
}
