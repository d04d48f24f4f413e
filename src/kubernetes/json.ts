export type Json = Readonly<Record<string, unknown>>;

/** Whether a value is a JSON object, neither a list nor null. */
export function isRecord(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** JSON in which the keys of every object are sorted, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1))) : part);
}
