/** Longer texts are seldom seen twice. */
const longest = 253;
/** Then everything is forgotten: that is cheap, and what is in use is soon known again. */
const most = 1_000;

/**
 * The same pure function of a text, which remembers what came out for those that are no longer than the name of a host:
 * the same names and durations stand in many objects, and in one object many times. It never shows but in the time taken.
 */
export function remember<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, { readonly result: T }>();
  return (text) => {
    if (text.length > longest) return compute(text);
    const before = known.get(text);
    if (before !== undefined) return before.result;
    const result = compute(text);
    if (known.size >= most) known.clear();
    known.set(text, { result });
    return result;
  };
}
