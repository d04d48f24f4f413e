import type { Bundle, Channel, Minor } from './availability.ts';

/**
 * Caches the result of `compute` per table node and bundle. Tables never change, and every validated object needs the same
 * results.
 */
export function perBundle<N extends object, T>(
  compute: (node: N, bundle: Bundle) => T,
): (node: N, bundle: Bundle) => T {
  type Results = WeakMap<N, { readonly value: T }>;
  const known: { readonly [C in Channel]: { [M in Minor]?: Results } } = { standard: {}, experimental: {} };
  // Almost all requests are about the installed bundle.
  let last: { readonly bundle: Bundle; readonly results: Results } | undefined;
  return (node, bundle) => {
    if (last?.bundle !== bundle) last = { bundle, results: (known[bundle.channel][bundle.minor] ??= new WeakMap()) };
    const { results } = last;
    let result = results.get(node);
    if (result === undefined) {
      result = { value: compute(node, bundle) };
      results.set(node, result);
    }
    return result.value;
  };
}
