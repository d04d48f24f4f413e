/** A property of an object or item of a list, in JSON of any shape. `undefined` if it does not exist. */
export function memberOf(json: unknown, name: string | number): unknown {
  if (typeof json !== 'object' || json === null || !Object.hasOwn(json, name)) return undefined;
  return (json as Readonly<Record<string | number, unknown>>)[name];
}
