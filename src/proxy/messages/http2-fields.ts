/**
 * Returns the fields of a raw HTTP/2 header section without its pseudo-header fields. Joins Cookie fields, which HTTP/2
 * may split (RFC 9113 section 8.2.3).
 */
export function fromRawHeaders(raw: readonly string[]): string[] {
  const fields: string[] = [];
  const cookies: string[] = [];
  for (let position = 0; position < raw.length; position += 2) {
    const name = raw[position] ?? '';
    const value = raw[position + 1] ?? '';
    if (name === 'cookie') cookies.push(value);
    else if (!name.startsWith(':')) fields.push(name, value);
  }
  if (cookies.length > 0) fields.push('cookie', cookies.join('; '));
  return fields;
}
