/** Deeper values are treated as different, to avoid a stack overflow. */
const maximumDepth = 500;

/**
 * Structural equality of JSON values. Maps and Sets are compared by content, instances of other classes by identity. The
 * order of keys is significant, because a reader may iterate over them. Returns `false` where a comparison would be unsafe
 * or too deep: that costs a recomputation, but never correctness. Never throws on JSON.
 */
export function deepEqual(left: unknown, right: unknown): boolean {
  return equalWithin(left, right, maximumDepth);
}

function equalWithin(left: unknown, right: unknown, depth: number): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object') return Number.isNaN(left) && Number.isNaN(right);
  if (left === null || right === null || depth === 0) return false;
  if (Array.isArray(left)) return Array.isArray(right) && equalArrays(left, right, depth - 1);
  if (isPlain(left)) return isPlain(right) && equalObjects(left, right, depth - 1);
  return isCollection(left) && isCollection(right) && equalCollections(left, right, depth - 1);
}

type Fields = Record<string, unknown>;
type Collection = Map<unknown, unknown> | Set<unknown>;

/** Whether an object is plain data. Looks for the root of the prototype chain, as there may be several realms. */
function isPlain(value: object): value is Fields {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function isCollection(value: object): value is Collection {
  return value instanceof Map || value instanceof Set;
}

function equalArrays(left: readonly unknown[], right: readonly unknown[], depth: number): boolean {
  if (left.length !== right.length) return false;
  for (let position = 0; position < left.length; position++) {
    if (!equalWithin(left[position], right[position], depth)) return false;
  }
  return true;
}

function equalObjects(left: Fields, right: Fields, depth: number): boolean {
  const keys = Object.keys(left);
  const otherKeys = Object.keys(right);
  if (keys.length !== otherKeys.length) return false;
  for (let position = 0; position < keys.length; position++) {
    const key = keys[position];
    if (key === undefined || key !== otherKeys[position] || !equalWithin(left[key], right[key], depth)) return false;
  }
  return true;
}

function equalCollections(left: Collection, right: Collection, depth: number): boolean {
  if (left.size !== right.size || left instanceof Map !== right instanceof Map) return false;
  const others: Iterator<unknown> = right[Symbol.iterator]();
  for (const item of left) {
    if (!equalWithin(item, others.next().value, depth)) return false;
  }
  return true;
}
