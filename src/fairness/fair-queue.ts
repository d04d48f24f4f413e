/**
 * Values that wait for their turn, by the address of their client. Clients take turns, and the values of one leave in the order in which
 * they arrived. So a client with many values does not delay another.
 */
export class FairQueue<T> {
  /** By the address of the client, the next one first. None is empty. */
  private readonly byClient = new Map<string, Set<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Adds a value that does not wait. */
  add(value: T, client: string): void {
    const values = this.byClient.get(client) ?? new Set();
    this.byClient.set(client, values.add(value));
    this.count += 1;
  }

  /** Removes and returns the longest waiting value of the next client; `undefined` if none waits. */
  take(): T | undefined {
    const [next] = this.byClient;
    if (next === undefined) return undefined;
    const [client, values] = next;
    const [value] = values;
    this.byClient.delete(client);
    if (value !== undefined) this.remove(value, values);
    if (values.size > 0) this.byClient.set(client, values);
    return value;
  }

  /**
   * Makes room for one more value of a client: removes and returns the longest waiting value of the client with most. Returns `undefined`
   * if the client itself would have as many.
   */
  replace(client: string): T | undefined {
    let most = { client: '', values: new Set<T>() };
    for (const [other, values] of this.byClient) if (values.size > most.values.size) most = { client: other, values };
    if (most.values.size <= (this.byClient.get(client)?.size ?? 0) + 1) return undefined;
    const [value] = most.values;
    if (value !== undefined) this.remove(value, most.values);
    return value;
  }

  private remove(value: T, values: Set<T>): void {
    if (values.delete(value)) this.count -= 1;
  }
}
