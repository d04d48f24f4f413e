/** Longer texts rarely repeat. */
const maxLength = 253;
/** Maximum number of entries. At the limit the cache is cleared: that is cheap, and values in use are soon cached again. */
const maxEntries = 1_000;

/**
 * Caches a pure function of a text, for texts not longer than a hostname: the same names and durations occur in many
 * objects, and many times in one object. Affects only the time.
 */
export function remember<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly result: T }>();
  return (text) => {
    if (text.length > maxLength) return compute(text);
    const before = known.get(text);
    if (before !== undefined) return before.result;
    const result = compute(text);
    if (known.size >= maxEntries) known.clear();
    known.set(text, { result });
    return result;
  };
}
