import type { Bundle, Channel, Minor } from './availability.ts';

/**
 * Caches the result of `compute` per table node and bundle. Tables never change, and every validated object needs the same
 * results.
 */
export function perBundle<N extends object, T>(
  compute: (node: N, bundle: Bundle) => T,
): (node: N, bundle: Bundle) => T {
  const known: { readonly [C in Channel]: { [M in Minor]?: WeakMap<N, { readonly value: T }> } } = {
    standard: {},
    experimental: {},
  };
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
