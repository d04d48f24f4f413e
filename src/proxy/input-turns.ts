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
 * Work that each client can have done in one turn of the event loop, whatever others bring; measured in small frames. A request is worth
 * about ten of them, and takes about a tenth of a millisecond.
 */
const perClient = 128;
/**
 * Work in one turn for all clients together, before those that have had their part wait. A turn costs something by itself: a client
 * that is alone has more done in each.
 */
const perTurn = 512;

/**
 * Shares the time of the event loop between clients: each has so much work done at once, in each turn of the loop. Whoever sends more waits,
 * and those that wait take turns, first by client and then by connection. So one client cannot delay others by what it sends,
 * on however many connections.
 */
export class InputTurns {
  /** Work done for each client in this turn, and for all of them. */
  private readonly done = new Map<string, number>();
  private total = 0;
  /** What waits, by client. */
  private readonly waiting = new Map<string, LinkedSet<Input>>();
  /** The clients of `waiting`, the next one first. */
  private readonly order = new LinkedSet<string>();
  private isScheduled = false;

  /** Handles input now, as far as its client has work left in this turn, and the rest in later turns. Input that waits already may come again. */
  take(input: Input): void {
    const { client } = input;
    if (!this.waiting.has(client)) this.serve(input, Math.max(perClient - (this.done.get(client) ?? 0), perTurn - this.total));
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
    while (this.order.size > 0 && this.total < perTurn) this.serveNext();
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
    this.serve(input, perClient);
    if (input.isHolding) this.wait(input);
    if (inputs.size > 0) this.order.add(client);
    else this.waiting.delete(client);
  }
}
