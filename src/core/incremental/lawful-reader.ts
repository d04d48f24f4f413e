import type { AnyQuery, Calls } from './calls.ts';
import type { Index, Input, Query, Reader } from './reader.ts';
import type { Facet } from './entries.ts';

/** Resolves reads without checking strata; arguments as in `Reader`. */
export interface Resolver {
  input(input: Input<unknown>, args: readonly string[]): unknown;
  query(query: AnyQuery, args: readonly string[]): unknown;
  facet<F extends keyof Facet>(index: Index, bucket: string, facet: F): Facet[F];
}

/** The reader for computations, of the base state and of overlays: checks the law of strata before each read. */
export class LawfulReader implements Reader {
  private readonly calls: Pick<Calls, 'allowQuery' | 'allowIndex'>;
  private readonly resolver: Resolver;

  constructor(calls: Pick<Calls, 'allowQuery' | 'allowIndex'>, resolver: Resolver) {
    this.calls = calls;
    this.resolver = resolver;
  }

  input<T>(input: Input<T>, ...args: readonly string[]): T | undefined {
    return this.resolver.input(input, args) as T | undefined;
  }

  query<A extends readonly string[], T>(query: Query<A, T>, ...args: A): T {
    this.calls.allowQuery(query);
    return this.resolver.query(query, args) as T;
  }

  list(index: Index, bucket: string): readonly string[] {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'list');
  }

  count(index: Index, bucket: string): number {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'count');
  }

  several(index: Index, bucket: string): boolean {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'several');
  }

  many(index: Index, bucket: string): boolean {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'many');
  }

  first(index: Index, bucket: string): string | undefined {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'first');
  }

  last(index: Index, bucket: string): string | undefined {
    this.calls.allowIndex(index);
    return this.resolver.facet(index, bucket, 'last');
  }
}
