/** Maximum number of characters of a user's value in a message. */
export const displayLimit = 64;

// Control and format characters (including bidirectional overrides), line separators, lone surrogates, and the two characters
// that would make quotes ambiguous.
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}"\\]/gu;

const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** Anything but printable ASCII. Nearly all texts have none, and this takes a fraction of the time that Unicode classes take. */
const unusual = /[^ -~]/;
const unusualOrQuote = /[^ !#-[\]-~]/;

const shortEscapes: ReadonlyMap<string, string> = new Map([
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['"', '\\"'],
  ['\\', '\\\\'],
]);

/**
 * Formats a user's value for a message. Strings are in double quotes, with invisible characters escaped, and shortened to
 * `limit` characters (code points) with a final `…`. Other JSON values are described by a word or formatted as they are. The
 * result never contains control characters, so it is safe in logs, HTTP headers and terminals.
 */
export function quote(value: unknown, limit: number = displayLimit): string {
  if (typeof value === 'string') return `"${display(value, limit)}"`;
  if (value === null || typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (value === undefined) return 'nothing';
  return Array.isArray(value) ? 'a list' : 'an object';
}

/** Formats a user's text like `quote`, but without quotes: for fields that contain only the value. */
export function display(text: string, limit: number = displayLimit): string {
  return escape(shorten(text, limit));
}

/**
 * Formats a whole message of at most `limit` characters (code points, by default any number), with invisible characters escaped. Quotes
 * remain, because values in the message are already quoted.
 */
export function printable(message: string, limit = Infinity): string {
  const text = shorten(message, limit);
  if (!unusual.test(text)) return text;
  return text.replace(invisible, (character) => shortEscapes.get(character) ?? codePointEscape(character));
}

/** Shortens `text` to `limit` characters (code points). If it was shortened, the last one is `…`. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // A code point takes at most two code units, so the rest of a huge text is irrelevant.
  const characters = Array.from(text.slice(0, 2 * limit + 2));
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

/** The maximum number of items of a list in a message. */
export const maxShown = 5;

/**
 * Joins the first few items of a list, which may have any length, and adds the number of the remaining ones. `show` is called for those
 * few, and `count` is the length of the list if `items` are only its beginning.
 */
export function someOf<T>(
  items: readonly T[],
  show: (item: T) => string = String,
  count: number = items.length,
): string {
  const shown = items.slice(0, maxShown).map(show).join(', ');
  return count > maxShown ? `${shown} and ${count - maxShown} more` : shown;
}

/** Joins at most five texts of users, shortened: objects that repeat a message with many long names would fill the memory. */
export function displayed(texts: readonly string[]): string {
  return someOf(texts, (text) => display(text));
}

const surrogate = /[\ud800-\udfff]/;

/**
 * The number of characters (code points) of a text. Unlike an iterator, this allocates no string per character: there may be
 * millions.
 */
export function characterCount(text: string): number {
  // Nearly all texts have none, and in those the engine does not even read the characters.
  if (!surrogate.test(text)) return text.length;
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
  if (!unusualOrQuote.test(text)) return text;
  return text.replace(unsafe, (character) => shortEscapes.get(character) ?? codePointEscape(character));
}

function codePointEscape(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16);
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
