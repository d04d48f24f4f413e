import { quote } from './display.ts';

const token = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
// The characters of \p{Cc}, which takes several times as long.
const control = /[^ -~\u00a0-\uffff]/;
const upperCase = /[A-Z]/;
const ascii = /^[\0-\x7f]*$/;
const printable = /^[!-~]+(?:[\t ][!-~]+)*$/;

/** In names with other characters, ASCII letters are converted one by one. */
const longestFolded = 1_024;

/** Whether `text` is a valid header name: a non-empty token (RFC 9110 section 5.6.2). */
export function isToken(text: string): boolean {
  return token.test(text);
}

/** The normalized header name for comparisons. Only ASCII letters have a case (RFC 9110 section 5.1). */
export function headerKey(name: string): string {
  // Most names are already in lower case, and nearly all others are ASCII.
  if (!upperCase.test(name)) return name;
  if (ascii.test(name)) return name.toLowerCase();
  // No valid name is that long, or equal to it.
  return name.length > longestFolded ? name : name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** The first control character of `text`, escaped and quoted, e.g. `"\r"`; `undefined` if there is none. */
export function controlCharacter(text: string): string | undefined {
  const found = control.exec(text)?.[0];
  return found === undefined ? undefined : quote(found);
}

/**
 * Whether `text` is a valid header value in the experimental channel: printable ASCII, with single spaces or tabs only
 * inside (Gateway API HTTPHeader.value).
 */
export function isPrintableHeaderValue(text: string): boolean {
  return printable.test(text);
}
