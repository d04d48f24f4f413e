/** The fields of `before` that `after` does not have, each at its topmost place. */
export function lostFields(before: unknown, after: unknown, path: string): readonly string[] {
  if (Array.isArray(before))
    return before.flatMap((item, index) =>
      lostFields(item, Array.isArray(after) ? after[index] : undefined, `${path}[${index}]`),
    );
  if (typeof before !== 'object' || before === null) return [];
  return Object.entries(before).flatMap(([name, value]) => {
    const there =
      typeof after === 'object' && after !== null ? (after as Readonly<Record<string, unknown>>)[name] : undefined;
    return there === undefined ? [`${path}.${name}`] : lostFields(value, there, `${path}.${name}`);
  });
}
