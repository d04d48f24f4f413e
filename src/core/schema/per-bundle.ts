import type { Bundle, Channel, Minor } from './availability.ts';

/**
 * Remembers what `compute` makes of a part of a table in a bundle. Tables never change, and each object that is judged
 * asks for the same again.
 */
export function perBundle<N extends object, T>(compute: (node: N, bundle: Bundle) => T): (node: N, bundle: Bundle) => T {
  const known: { readonly [C in Channel]: { [M in Minor]?: WeakMap<N, { readonly value: T }> } } = { standard: {}, experimental: {} };
  return (node, bundle) => {
    const results = (known[bundle.channel][bundle.minor] ??= new WeakMap());
    let result = results.get(node);
    if (result === undefined) {
      result = { value: compute(node, bundle) };
      results.set(node, result);
    }
    return result.value;
  };
}
