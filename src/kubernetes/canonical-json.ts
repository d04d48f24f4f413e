import { isRecord } from '../core/text/record.ts';

/** JSON in which the keys of every object are sorted, so that equal values give equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isRecord(part) ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1))) : part);
}
