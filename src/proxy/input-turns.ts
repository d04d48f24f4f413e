import { LinkedSet } from './linked-set.ts';

/** Input that waits for its turn. */
export interface Input {
  /** The address of the client from which it comes. */
  readonly client: string;
  readonly isHolding: boolean;
  /** Handles up to so much of it; returns how much work it was. */
  feed(budget: number): number;
}

/**
 * How much work is done for one client in one turn of the event loop, where others wait; measured in small frames. A request is worth
 * about ten of them, and takes about a tenth of a millisecond.
 */
const perClient = 128;
/** How much is done for all clients that wait in one turn. */
const perTurn = 256;

/**
 * Shares the time of the event loop between clients: each has so much work done at once, in each turn of the loop. Whoever sends more waits,
 * and those that wait take turns, first by client and then by connection. So one client cannot delay others by what it sends,
 * on however many connections.
 */
export class InputTurns {
  /** Work done for each client in this turn. */
  private readonly done = new Map<string, number>();
  /** What waits, by client. */
  private readonly waiting = new Map<string, LinkedSet<Input>>();
  /** The clients of `waiting`, the next one first. */
  private readonly order = new LinkedSet<string>();
  private isScheduled = false;

  /** Handles input now, as far as its client has work left in this turn, and the rest in later turns. */
  take(input: Input): void {
    const { client } = input;
    if (!this.waiting.has(client)) this.serve(input, perClient);
    if (input.isHolding) this.wait(input);
    this.schedule();
  }

  private serve(input: Input, limit: number): number {
    const done = this.done.get(input.client) ?? 0;
    if (done >= limit) return 0;
    const work = input.feed(limit - done);
    this.done.set(input.client, done + work);
    return work;
  }

  private wait(input: Input): void {
    const { client } = input;
    let inputs = this.waiting.get(client);
    if (inputs === undefined) {
      inputs = new LinkedSet();
      this.waiting.set(client, inputs);
      this.order.add(client);
    }
    inputs.add(input);
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(this.turn);
  }

  private readonly turn = (): void => {
    this.isScheduled = false;
    this.done.clear();
    let work = 0;
    for (let clients = this.order.size; clients > 0 && work < perTurn; clients -= 1) work += this.serveNext();
    if (this.order.size > 0) this.schedule();
  };

  /** Serves the next client: its input that has waited longest. */
  private serveNext(): number {
    const client = this.order.first ?? '';
    const inputs = this.waiting.get(client);
    const input = inputs?.first;
    this.order.delete(client);
    if (inputs === undefined || input === undefined) {
      this.waiting.delete(client);
      return 0;
    }
    inputs.delete(input);
    const work = this.serve(input, perClient);
    if (input.isHolding) inputs.add(input);
    if (inputs.size > 0) this.order.add(client);
    else this.waiting.delete(client);
    return work;
  }
}
