import type { Emission, Index, Input, Query } from './reader.ts';

/** Declares a family of input cells. Identity is the returned object; `name` is for messages and explanations. */
export function defineInput<T>(name: string): Input<T> {
  return { name };
}

/** Declares a query; argument and result types are inferred from `compute`. */
export function defineQuery<A extends readonly string[], T>(declaration: Query<A, T>): Query<A, T> {
  return declaration;
}

/** Declares an index; it has content only in kernels that were created with it. */
export function defineIndex(declaration: Index): Index {
  return declaration;
}

/** Declares an emission; the type of its values is inferred from `emit`. */
export function defineEmission<T>(declaration: Emission<T>): Emission<T> {
  return declaration;
}

/** One cell of an input as the outside wants it to be; built by `write`. `undefined` removes the cell. */
export interface Write {
  readonly input: Input<unknown>;
  readonly args: readonly string[];
  readonly value: unknown;
}

/** A write whose value fits its input. The kernel keeps `value`: it must not be mutated afterwards. */
export function write<T>(input: Input<T>, args: readonly string[], value: T | undefined): Write {
  return { input, args, value };
}
