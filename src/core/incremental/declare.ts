import type { Emission, Index, Input, Query } from './reader.ts';

/** Declares a family of input cells. Identity is the returned object; `name` is for messages and explanations. */
export function defineInput<T>(name: string): Input<T> {
  return { name };
}

let queries = 0;

/** Declares a query; argument and result types are inferred from `compute`. */
export function defineQuery<A extends readonly string[], T>(declaration: Omit<Query<A, T>, 'number'>): Query<A, T> {
  return { ...declaration, number: queries++ };
}

/** Declares an index. Only kernels created with the index maintain its content. */
export function defineIndex(declaration: Index): Index {
  return declaration;
}

/** Declares an emission; the type of its values is inferred from `emit`. */
export function defineEmission<T>(declaration: Emission<T>): Emission<T> {
  return declaration;
}

/** The new value of one input cell; built by `write`. `undefined` removes the cell. */
export interface Write {
  readonly input: Input<unknown>;
  readonly args: readonly string[];
  readonly value: unknown;
}

/** Creates a write with a value of the type of its input. The kernel keeps `value`: do not mutate it afterwards. */
export function write<T>(input: Input<T>, args: readonly string[], value: T | undefined): Write {
  return { input, args, value };
}
