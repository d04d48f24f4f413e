/** A JSON object of unknown content; anything else is as good as an empty one. */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function isRecord(json: unknown): json is JsonRecord {
  return typeof json === 'object' && json !== null && !Array.isArray(json);
}

/** The value as an object; an empty one where it is none. */
export function recordOf(json: unknown): JsonRecord {
  return isRecord(json) ? json : {};
}

/** The value as a list; an empty one where it is none. */
export function listOf(json: unknown): readonly unknown[] {
  return Array.isArray(json) ? json : [];
}
