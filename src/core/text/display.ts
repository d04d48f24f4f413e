/** How many characters of a user's value a message shows. */
export const displayLimit = 64;

// Control and format characters (bidirectional overrides among them), line separators, lone surrogates, and the two
// characters that would make the quoting ambiguous.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"\\]/gu;

const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

/**
 * A user's value for use inside a message: strings in double quotes with everything invisible escaped, shortened to
 * `limit` characters (code points) with `…` at the end; other JSON values by a word or as they are. The result never
 * holds control characters, so it is safe in logs, HTTP headers and terminals.
 */
export function quote(value: unknown, limit: number = displayLimit): string {
  if (typeof value === 'string') return `"${display(value, limit)}"`;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** A text of the user as `quote` shows it, without the quotes: for fields that hold nothing but the value. */
export function display(text: string, limit: number = displayLimit): string {
  return escape(shorten(text, limit));
}

/**
 * A whole message, at most `limit` characters (code points) long: what nobody could see in it is escaped. Quotes stay as
 * they are, since values in it have theirs already.
 */
export function printable(message: string, limit: number): string {
  return shorten(message, limit).replace(unseen, (character) => shortEscapes.get(character) ?? codePointEscape(character));
}

/** At most `limit` characters (code points) of `text`; the last one is `…` where something was cut off. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A code point takes at most two code units: the rest of a huge text need not be looked at.
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

/** How many characters (code points) a text has. Unlike an iterator, this makes no text of each: there may be millions. */
export function characterCount(text: string): number {
  let count = text.length;
  for (let index = 1; index < text.length; index += 1) {
    if (isLowSurrogate(text.charCodeAt(index)) && isHighSurrogate(text.charCodeAt(index - 1))) count -= 1;
  }
  return count;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd8_00 && unit <= 0xdb_ff;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc_00 && unit <= 0xdf_ff;
}

function escape(text: string): string {
  return text.replace(unsafe, (character) => shortEscapes.get(character) ?? codePointEscape(character));
}

function codePointEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
