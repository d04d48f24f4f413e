/** Header fields in wire order: name, value, name, value … Names keep their spelling and may repeat. */
export type Fields = readonly string[];

/** Fields about one connection, in lower case (RFC 9110 section 7.6.1). HTTP/2 has none of them (RFC 9113 section 8.2.2). */
export const connectionFields: readonly string[] = [
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
];

/** These and the fields that delimit or route a message (RFC 9112 sections 3, 6 and 9). Nothing but the proxy itself may set them. */
export const framingFields: readonly string[] = [
  ...connectionFields,
  'content-length',
  'expect',
  'host',
  'te',
  'trailer',
];

/** The normalized name of a field for comparisons. Parsers only accept tokens, which are ASCII (RFC 9110 section 5.6.2). */
export function nameKey(name: string): string {
  return name.toLowerCase();
}

/** The position of the first field with a lower-case name, at or after `from`; -1 if there is none. */
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

/** The values of all fields with a name as one list (RFC 9110 section 5.3); `undefined` if there is none. */
export function valueOf(fields: Fields, lowerName: string): string | undefined {
  let value: string | undefined;
  for (
    let position = positionOf(fields, lowerName);
    position !== -1;
    position = positionOf(fields, lowerName, position + 2)
  ) {
    value = value === undefined ? fields[position + 1] : `${value}, ${fields[position + 1]}`;
  }
  return value;
}

/** The items of a list in lower case, without blanks around them (RFC 9110 section 5.6.1). */
export function listItems(value: string): string[] {
  return value
    .toLowerCase()
    .split(',')
    .map((item) => withoutBlanks(item));
}

const space = 0x20;
const tab = 0x09;

/**
 * Removes spaces and tabs around a part of a text. `trim()` would also remove the byte 0xA0, which HTTP parsers keep. A regular
 * expression that looks for the last blanks would read all blanks inside again for each of them.
 */
export function withoutBlanks(text: string, from = 0, to: number = text.length): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === space || code === tab;
}

/** Fields except those with one lower-case name. */
export function withoutField(fields: string[], lowerName: string): string[] {
  return hasField(fields, lowerName) ? fieldsWhere(fields, (key) => key !== lowerName) : fields;
}

/** The fields whose lower-case names pass the test. */
export function fieldsWhere(fields: Fields, passes: (key: string) => boolean): string[] {
  const kept: string[] = [];
  for (let position = 0; position < fields.length; position += 2) {
    const name = fields[position] ?? '';
    if (passes(nameKey(name))) kept.push(name, fields[position + 1] ?? '');
  }
  return kept;
}
