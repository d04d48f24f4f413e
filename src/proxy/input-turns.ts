import { LinkedSet } from './linked-set.ts';

/** Input that waits for its turn. */
export interface Input {
  /** The address of the client from which it comes. */
  readonly client: string;
  /** Whether there is something to handle. */
  readonly isHolding: boolean;
  /** Handles up to so much of it; returns how much work it was. */
  feed(budget: number): number;
}

/**
 * Work in one turn of the event loop for all clients together, before those that have had their part wait; measured in small frames. A
 * request is worth about ten of them, and takes about a tenth of a millisecond. But some cost much more than they show, a large response
 * that nobody takes for example. So the work of a turn halves after each turn that was long, and doubles after each one that was short.
 */
const mostPerTurn = 512;
const leastPerTurn = 64;
/** Milliseconds. */
const longTurn = 10;
/** The part of a turn's work that each client can have done, whatever others bring. */
const share = 1 / 4;

/**
 * Shares the time of the event loop between clients: each has so much work done at once, in each turn of the loop. Whoever sends more waits,
 * and those that wait take turns, first by client and then by connection. So one client cannot delay others by what it sends,
 * on however many connections.
 */
export class InputTurns {
  /** Work done for each client in this turn, and for all of them. */
  private readonly done = new Map<string, number>();
  private total = 0;
  private perTurn = mostPerTurn;
  /** When the turn began, or the first input came in it. */
  private began = 0;
  /** What waits, by client. */
  private readonly waiting = new Map<string, LinkedSet<Input>>();
  /** The clients of `waiting`, the next one first. */
  private readonly order = new LinkedSet<string>();
  private isScheduled = false;
  private readonly now: () => number;

  /** `now` is a clock, in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.now = now;
  }

  /** Handles input now, as far as its client has work left in this turn, and the rest in later turns. Input that waits already may come again. */
  take(input: Input): void {
    const { client } = input;
    if (!this.isScheduled) this.began = this.now();
    if (!this.waiting.has(client)) this.serve(input, Math.max(share * this.perTurn - (this.done.get(client) ?? 0), this.perTurn - this.total));
    if (input.isHolding) this.wait(input);
    this.schedule();
  }

  private serve(input: Input, budget: number): void {
    if (budget <= 0) return;
    const work = input.feed(budget);
    this.done.set(input.client, (this.done.get(input.client) ?? 0) + work);
    this.total += work;
  }

  private wait(input: Input): void {
    const { client } = input;
    let inputs = this.waiting.get(client);
    if (inputs === undefined) {
      inputs = new LinkedSet();
      this.waiting.set(client, inputs);
      this.order.add(client);
    }
    if (!inputs.has(input)) inputs.add(input);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    this.done.clear();
    this.total = 0;
    const now = this.now();
    this.perTurn = now - this.began > longTurn ? Math.max(leastPerTurn, this.perTurn / 2) : Math.min(mostPerTurn, this.perTurn * 2);
    this.began = now;
    while (this.order.size > 0 && this.total < this.perTurn) this.serveNext();
    if (this.order.size > 0) this.schedule();
  };

  /** Serves the next client: its input that has waited longest. */
  private serveNext(): void {
    const client = this.order.first ?? '';
    const inputs = this.waiting.get(client);
    const input = inputs?.first;
    this.order.delete(client);
    if (inputs === undefined || input === undefined) {
      this.waiting.delete(client);
      return;
    }
    inputs.delete(input);
    this.serve(input, share * this.perTurn);
    if (input.isHolding) this.wait(input);
    if (inputs.size > 0) this.order.add(client);
    else this.waiting.delete(client);
  }
}
