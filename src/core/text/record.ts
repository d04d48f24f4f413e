/** A JSON object with unknown content. Other values are treated as an empty one. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(json: unknown): json is JsonRecord {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** Kubernetes treats null like an absent value. */
export function isPresent(json: unknown): boolean {
  return json !== null && json !== undefined;
}

/** The value if it is an object, otherwise an empty one. */
export function recordOf(json: unknown): JsonRecord {
  return isRecord(json) ? json : {};
}

/** The value if it is a list, otherwise an empty one. */
export function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [];
}

/** The objects in the value if it is a list, otherwise none. */
export function recordsOf(json: unknown): readonly JsonRecord[] {
  return listOf(json).filter(isRecord);
}

/** The value if it is a string, otherwise an empty one. */
export function textOf(json: unknown): string {
  return typeof json === 'string' ? json : '';
}

/** A property of an object, never of its prototype, or an item of a list; `undefined` if it does not exist. */
export function memberOf(json: unknown, name: string | number): unknown {
  if (Array.isArray(json)) return json[Number(name)];
  return isRecord(json) && Object.hasOwn(json, name) ? json[name] : undefined;
}

/** The value at a path of property names and list positions, which may be null; `undefined` if there is none. */
export function valueAt(json: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(memberOf, json);
}
