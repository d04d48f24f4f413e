/** No schema nests deeper. */
const depthLimit = 64;

/** Returns whether two values are the same JSON, regardless of key order. Values nested deeper than any schema count as different. */
export function sameJson(one: unknown, other: unknown, depth = 0): boolean {
  if (one === other) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null || depth > depthLimit)
    return false;
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, position) => sameJson(item, other[position], depth + 1))
    );
  }
  const [fields, others] = [one as Fields, other as Fields];
  const keys = Object.keys(fields);
  return (
    keys.length === Object.keys(others).length &&
    keys.every((key) => Object.hasOwn(others, key) && sameJson(fields[key], others[key], depth + 1))
  );
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns JSON with sorted keys. Values nested deeper than any schema are left out. */
export function canonical(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  if (depth > depthLimit) return '…';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join(',')}}`;
}
