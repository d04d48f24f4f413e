const tokenCharacter = "[!#$%&'*+\\-.^_`|~0-9A-Za-z]";
const quotedCharacter = String.raw`[\t\x20!#-\[\]-~\x80-\xff]`;
const escapedCharacter = String.raw`[\t\x20-~\x80-\xff]`;
const token = `${tokenCharacter}+`;
const quoted = String.raw`"(?:${quotedCharacter}|\\${escapedCharacter})*"`;
// Up to 2⁵² bytes. Extensions apply only to this connection (RFC 9112 section 7.1.1).
const chunkHead = new RegExp(`^(?<size>[0-9A-Fa-f]{1,13})(?:;${token}(?:=(?:${token}|${quoted}))?)*$`);

/** Returns the size in bytes from the first line of a chunk, without its line break; `undefined` for a syntax error (RFC 9112 section 7.1). */
export function chunkSize(line: string): number | undefined {
  const size = chunkHead.exec(line)?.groups?.['size'];
  return size === undefined ? undefined : Number.parseInt(size, 16);
}

const semicolon = 0x3b;
const equals = 0x3d;
const quote = 0x22;
const backslash = 0x5c;

/** Returns which bytes a class of characters matches. */
function bytesOf(characters: string): Uint8Array {
  const pattern = new RegExp(characters);
  return Uint8Array.from({ length: 256 }, (_, byte) => (pattern.test(String.fromCharCode(byte)) ? 1 : 0));
}

const isToken = bytesOf(tokenCharacter);
const isQuoted = bytesOf(quotedCharacter);
const isEscaped = bytesOf(escapedCharacter);

/**
 * Returns the position after the extensions that begin at `at`, before `limit`; -1 if they are longer or wrong. Accepts
 * the same as `chunkSize`. Without text and an expression for each chunk, it takes a tenth of the time.
 */
export function extensionsEnd(bytes: Buffer, at: number, limit: number): number {
  let position = at;
  while (bytes[position] === semicolon) {
    const name = position + 1;
    position = runEnd(bytes, name, limit, isToken);
    if (position === name) return -1;
    if (bytes[position] !== equals) continue;
    const value = position + 1;
    position = bytes[value] === quote ? quotedEnd(bytes, value + 1, limit) : runEnd(bytes, value, limit, isToken);
    if (position === value || position === -1) return -1;
  }
  return position > limit ? -1 : position;
}

function runEnd(bytes: Buffer, at: number, limit: number, isPart: Uint8Array): number {
  let position = at;
  while (position <= limit && isPart[bytes[position] ?? 0] === 1) position += 1;
  return position;
}

/** Returns the position after the closing quote. */
function quotedEnd(bytes: Buffer, at: number, limit: number): number {
  let position = runEnd(bytes, at, limit, isQuoted);
  while (bytes[position] === backslash && isEscaped[bytes[position + 1] ?? 0] === 1)
    position = runEnd(bytes, position + 2, limit, isQuoted);
  return bytes[position] === quote ? position + 1 : -1;
}
