const token = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]+";
const quoted = String.raw`"(?:[\t\x20!#-\[\]-~\x80-\xff]|\\[\t\x20-~\x80-\xff])*"`;
// Up to 2⁵² bytes. Extensions apply only to this connection (RFC 9112 section 7.1.1).
const chunkHead = new RegExp(`^(?<size>[0-9A-Fa-f]{1,13})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`);

/** Returns the size in bytes from the first line of a chunk, without its line break; `undefined` for a syntax error (RFC 9112 section 7.1). */
export function chunkSize(line: string): number | undefined {
  const size = chunkHead.exec(line)?.groups?.['size'];
  return size === undefined ? undefined : Number.parseInt(size, 16);
}
