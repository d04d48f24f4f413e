/**
 * Whose turn it is, from the outside in: the address of a client, and where it speaks for several users, one of these. All owners in a queue
 * have equally many names.
 */
export type Owner = readonly string[];

/** The maximum number of values of an owner that are put back before another one begins: each may hold memory until it is done. */
const maxBegun = 8;

/**
 * Values that wait for their turn, by their owner. Clients take turns, the users of one client share the turns of this client, and the values
 * of one owner leave in the order in which they arrived. So a client or a user with many values does not delay another.
 */
export class FairQueue<T> {
  /** By the next name of their owner, the next one first. None is empty. */
  private readonly parts = new Map<string, FairQueue<T>>();
  /** The values of an owner without a further name. */
  private readonly values = new Set<T>();
  /** Those of them that were put back. */
  private readonly begun = new Set<T>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** Adds a value that does not wait. */
  add(value: T, owner: Owner): void {
    this.partOf(owner).values.add(value);
  }

  /** Adds a value that was taken and is not done. While its owner has `maxBegun` of these, they take turns, and no other value of it is taken. */
  putBack(value: T, owner: Owner): void {
    const { values, begun } = this.partOf(owner);
    values.add(value);
    begun.add(value);
  }

  /** Removes and returns the longest waiting value of the next owner; `undefined` if none waits. */
  take(): T | undefined {
    const [next] = this.parts;
    if (next === undefined) return this.takeFirst();
    const [name, part] = next;
    this.parts.delete(name);
    this.count -= 1;
    const value = part.take();
    if (part.size > 0) this.parts.set(name, part);
    return value;
  }

  /** Removes a value of this owner, if it waits. */
  remove(value: T, [name, ...rest]: Owner): boolean {
    const part = name === undefined ? undefined : this.parts.get(name);
    const isRemoved = name === undefined ? this.values.delete(value) : part?.remove(value, rest) === true;
    if (!isRemoved) return false;
    this.begun.delete(value);
    this.count -= 1;
    if (name !== undefined && part?.size === 0) this.parts.delete(name);
    return true;
  }

  /**
   * Makes room for one more value of an owner: removes and returns the longest waiting value of the client with most, or of the user with
   * most of its own client. Returns `undefined` if the owner itself would have as many.
   */
  replace([name = '', ...rest]: Owner): T | undefined {
    const own = this.parts.get(name);
    const [most] = this.largest;
    const value = most !== undefined && most.size > (own?.size ?? 0) + 1 ? most.takeOfMost() : own?.replace(rest);
    if (value !== undefined) this.count -= 1;
    return value;
  }

  /** Removes and returns the longest waiting value of the owner with most. */
  private takeOfMost(): T | undefined {
    const [most, name] = this.largest;
    if (most === undefined) return this.takeFirst();
    this.count -= 1;
    if (most.size === 1) this.parts.delete(name);
    return most.takeOfMost();
  }

  private takeFirst(): T | undefined {
    const [first] = this.values;
    if (first === undefined) return undefined;
    const [begun] = this.begun;
    const value = begun !== undefined && this.begun.size >= maxBegun && !this.begun.has(first) ? begun : first;
    this.values.delete(value);
    this.begun.delete(value);
    this.count -= 1;
    return value;
  }

  /** Returns the part for the values of an owner, which gets one more. */
  private partOf([name, ...rest]: Owner): FairQueue<T> {
    this.count += 1;
    if (name === undefined) return this;
    const part = this.parts.get(name) ?? new FairQueue();
    this.parts.set(name, part);
    return part.partOf(rest);
  }

  private get largest(): readonly [FairQueue<T> | undefined, string] {
    let largest: FairQueue<T> | undefined;
    let of = '';
    for (const [name, part] of this.parts) if (part.size > (largest?.size ?? 0)) [largest, of] = [part, name];
    return [largest, of];
  }
}
