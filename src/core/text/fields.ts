/** Header fields as they travel: name, value, name, value … Names keep their spelling and may repeat. */
export type Fields = readonly string[];

/** The spelling by which names of fields are compared. Parsers let only tokens pass, which are ASCII (RFC 9110 section 5.6.2). */
export function nameKey(name: string): string {
  return name.toLowerCase();
}

/** Where the first field of a name, given in lower case, stands at or after a position; -1 where there is none. */
export function positionOf(fields: Fields, lowerName: string, from = 0): number {
  for (let position = from; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (name.length === lowerName.length && nameKey(name) === lowerName) return position;
  }
  return -1;
}

export function hasField(fields: Fields, lowerName: string): boolean {
  return positionOf(fields, lowerName) !== -1;
}

/** The values of all fields of a name as one list (RFC 9110 section 5.3); `undefined` where there is none. */
export function valueOf(fields: Fields, lowerName: string): string | undefined {
  let value: string | undefined;
  for (let position = positionOf(fields, lowerName); position !== -1; position = positionOf(fields, lowerName, position + 2)) {
    value = value === undefined ? fields[position + 1] : `${value}, ${fields[position + 1]}`;
  }
  return value;
}

/**
 * The items of a list in lower case (RFC 9110 section 5.6.1). Only spaces and tabs around them are left out: `trim()` also
 * removes the byte 0xA0, which parsers of HTTP keep.
 */
export function listItems(value: string): string[] {
  return value.toLowerCase().split(',').map((item) => item.replace(/^[\t ]+|[\t ]+$/g, ''));
}

/** Fields without those of one name, given in lower case. */
export function withoutField(fields: string[], lowerName: string): string[] {
  return hasField(fields, lowerName) ? fieldsWhere(fields, (key) => key !== lowerName) : fields;
}

/** The fields of which the names in lower case pass. */
export function fieldsWhere(fields: Fields, passes: (key: string) => boolean): string[] {
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (passes(nameKey(name))) kept.push(name, fields[position + 1] ?? '');
  }
  return kept;
}

/** Fields as pairs of name and value. */
export function pairs(fields: Fields): [string, string][] {
  const found: [string, string][] = [];
  for (let position = 0; position < fields.length; position += 2) found.push([fields[position] ?? '', fields[position + 1] ?? '']);
  return found;
}
