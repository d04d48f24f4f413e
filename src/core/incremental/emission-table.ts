import { fitted } from '../text/fitted.ts';
import type { Contributor, ContributorTable } from './cells.ts';
import type { Engine } from './engine.ts';
import { deepEqual } from './equal.ts';
import { few, listed, type Few } from './few.ts';
import type { Steps } from '../text/steps.ts';
import type { Emission, Emitted, Reader } from './reader.ts';

/** The changes of an emission. */
export interface EmissionChange<T> {
  readonly upserted: ReadonlyMap<string, T>;
  readonly removed: ReadonlySet<string>;
}

interface Different {
  readonly contributor: Contributor<Emitted<unknown>>;
  readonly before: Few<Emitted<unknown>>;
}

/** The content of one emission, and its changes since the last `take`. */
export class EmissionTable implements ContributorTable<Emitted<unknown>> {
  readonly emission: Emission<unknown>;
  readonly content = new Map<string, unknown>();
  readonly queue: Contributor<Emitted<unknown>>[] = [];
  /** The value of each touched key at the last `take`; `undefined` for keys that had none. */
  private readonly taken = new Map<string, unknown>();
  /** The contributors whose output differs from the content. */
  private different: readonly Different[] = [];

  constructor(emission: Emission<unknown>) {
    this.emission = emission;
  }

  get name(): string {
    return this.emission.name;
  }

  get stratum(): number {
    return this.emission.stratum;
  }

  produce(read: Reader, args: readonly string[]): Iterable<Emitted<unknown>> {
    return this.emission.emit(read, ...args);
  }

  /** Updates queued contributors, and leaves the content as it is until `commit`. Appends errors to `errors`. Each contributor is a step. */
  *settle(engine: Engine, errors: unknown[]): Steps<void> {
    if (this.queue.length === 0) return;
    const different: Different[] = [];
    this.different = different;
    for (const contributor of this.queue) {
      const before = contributor.output;
      try {
        engine.update(contributor);
      } catch (error) {
        errors.push(error);
      }
      if (contributor.output !== before) different.push({ contributor, before });
      yield;
    }
    this.queue.length = 0;
  }

  /** Applies the output of contributors that has changed. Appends errors to `errors`. */
  commit(errors: unknown[]): void {
    const { different } = this;
    if (different.length === 0) return;
    this.different = [];
    // Removals come first: a key may move from one contributor to another.
    for (const { contributor, before } of different) {
      const output = listed(contributor.output);
      listed(before).forEach(({ key }, position) => {
        if (output[position]?.key !== key) this.remove(key);
      });
    }
    for (const { contributor, before } of different) {
      const former = listed(before);
      const output = listed(contributor.output).filter((emitted, position) =>
        former[position]?.key === emitted.key ? this.replace(emitted) : this.add(emitted, errors),
      );
      contributor.output = few(fitted(output));
    }
  }

  /** The changes since the last call; `undefined` if no key was touched. */
  take(): EmissionChange<unknown> | undefined {
    if (this.taken.size === 0) return undefined;
    const upserted = new Map<string, unknown>();
    const removed = new Set<string>();
    for (const [key, before] of this.taken) {
      const now = this.content.get(key);
      if (now === undefined) {
        if (before !== undefined) removed.add(key);
      } else if (!deepEqual(before, now)) {
        upserted.set(key, now);
      }
    }
    this.taken.clear();
    return { upserted, removed };
  }

  /** Returns false and reports an error if the key already has a value. */
  private add(emitted: Emitted<unknown>, errors: unknown[]): boolean {
    if (!this.content.has(emitted.key)) return this.replace(emitted);
    errors.push(
      new Error(`emission ${this.name}: key ${JSON.stringify(emitted.key)} is emitted twice; the first one stays`),
    );
    return false;
  }

  private replace({ key, value }: Emitted<unknown>): true {
    this.remember(key);
    this.content.set(key, value);
    return true;
  }

  private remove(key: string): void {
    this.remember(key);
    this.content.delete(key);
  }

  private remember(key: string): void {
    if (!this.taken.has(key)) this.taken.set(key, this.content.get(key));
  }
}
