/** One backend gets `weight` of `total` requests, connections or flows. */
export interface Share<B, R> {
  readonly weight: number;
  readonly total: number;
  /** `undefined` if no backend has a weight above zero. */
  readonly backend: B | undefined;
  readonly result: R;
}

/**
 * Divides requests, connections or flows among weighted backends, as data planes do (BackendRef.weight).
 *
 * @param resultOf the result for the share of a backend; called with `undefined` if no backend has a weight above zero
 */
export function sharesOf<B extends { readonly weight: number }, R>(
  backends: readonly B[],
  resultOf: (backend: B | undefined) => R,
): readonly Share<B, R>[] {
  const used = backends.filter(({ weight }) => weight > 0);
  const total = used.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return [{ weight: 1, total: 1, backend: undefined, result: resultOf(undefined) }];
  return used.map((backend) => ({ weight: backend.weight, total, backend, result: resultOf(backend) }));
}
