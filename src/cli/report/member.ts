/** A member of an object or item of a list, of JSON of any shape; `undefined` where there is none. */
export function memberOf(json: unknown, name: string | number): unknown {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined;
  return (json as Readonly<Record<string | number, unknown>>)[name];
}
