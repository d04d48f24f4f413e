import type { Path } from '../../src/core/resources/path.ts';

// Changes at a place of a JSON value; the value itself stays as it is.

export function valueAt(json: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (value, part) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, part)
        ? (value as Record<string | number, unknown>)[part]
        : undefined,
    json,
  );
}

/** Puts a value at a place; a place that does not exist, below what is no list or object, is left alone. */
export function withValue(json: unknown, [part, ...rest]: Path, value: unknown): unknown {
  if (part === undefined) return value;
  if (Array.isArray(json))
    return json.map((item: unknown, index) => (index === part ? withValue(item, rest, value) : item));
  if (typeof json !== 'object' || json === null) return json;
  return { ...json, [part]: withValue((json as Record<string, unknown>)[part], rest, value) };
}

/** Takes the field or list item at a place away. */
export function without(json: unknown, [part, ...rest]: Path): unknown {
  if (typeof json !== 'object' || json === null || part === undefined) return json;
  if (Array.isArray(json)) {
    return rest.length === 0
      ? json.filter((_item, index) => index !== part)
      : json.map((item: unknown, index) => (index === part ? without(item, rest) : item));
  }
  if (!Object.hasOwn(json, part)) return json;
  if (rest.length > 0) return { ...json, [part]: without((json as Record<string, unknown>)[part], rest) };
  return Object.fromEntries(Object.entries(json).filter(([name]) => name !== part));
}

/** All places below a value, its own left out; parents come before their children. */
export function placesIn(json: unknown, at: Path = []): readonly Path[] {
  if (typeof json !== 'object' || json === null) return [];
  const entries: readonly (readonly [string | number, unknown])[] = Array.isArray(json)
    ? [...json.entries()]
    : Object.entries(json);
  return entries.flatMap(([part, value]) => [[...at, part], ...placesIn(value, [...at, part])]);
}
