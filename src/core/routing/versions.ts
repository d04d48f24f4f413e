import { runToEnd, type Steps } from '../text/steps.ts';
import type { ConfigKey } from './config.ts';

/** A version of a route, as an index has it. */
export interface Version {
  readonly key: ConfigKey;
  /** Whether lookups find its entries. */
  isActive: boolean;
}

/** Adds the entries of a version, and removes them, step by step. Entries that are not found are not removed. */
export interface VersionIndex<V extends Version> {
  readonly add: (version: V) => Steps<undefined>;
  readonly remove: (version: V) => Steps<undefined>;
}

/**
 * The versions of routes in an index. A route can have very many entries, and a change can affect thousands of routes at once, so their
 * entries are added before the change and removed after it, in steps between which there are lookups. The change itself only selects which
 * versions the lookups find.
 */
export class Versions<V extends Version> {
  private readonly index: VersionIndex<V>;
  private readonly active = new Map<ConfigKey, V>();
  private former: V[] = [];

  constructor(index: VersionIndex<V>) {
    this.index = index;
  }

  /** Adds the entries of a version that is not active yet. */
  *stage(version: V): Steps<V> {
    yield* this.index.add(version);
    return version;
  }

  /** Replaces the active version of a route by one that has been staged. */
  activate(version: V): void {
    this.deactivate(version.key);
    version.isActive = true;
    this.active.set(version.key, version);
  }

  /** Removes a route from lookups. Does nothing if it is not found. */
  deactivate(key: ConfigKey): void {
    const version = this.active.get(key);
    if (version === undefined) return;
    version.isActive = false;
    this.active.delete(key);
    this.former.push(version);
  }

  /** A staged version will not be activated. */
  discard(version: V): void {
    if (!version.isActive) this.former.push(version);
  }

  /** Removes the entries of all versions that were deactivated or discarded. */
  *sweep(): Steps<undefined> {
    for (let version = this.former.pop(); version !== undefined; version = this.former.pop())
      yield* this.index.remove(version);
    return undefined;
  }

  /** Adds a route, or replaces the one with the same key, at once. */
  upsert(version: V): void {
    this.activate(runToEnd(this.stage(version)));
    runToEnd(this.sweep());
  }

  /** Removes a route at once. Does nothing if it is not found. */
  remove(key: ConfigKey): void {
    this.deactivate(key);
    runToEnd(this.sweep());
  }

  /** The active versions. */
  [Symbol.iterator](): Iterator<V> {
    return this.active.values();
  }

  get isEmpty(): boolean {
    return this.active.size === 0;
  }
}
