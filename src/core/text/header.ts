import { quote } from './display.ts';

const token = /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/;
const control = /\p{Cc}/u;
const upperCase = /[A-Z]/;
const printable = /^[!-~]+(?:[\t ][!-~]+)*$/;

/** Whether `text` can be the name of a header: an RFC 9110 section 5.6.2 token, which is never empty. */
export function isToken(text: string): boolean {
  return token.test(text);
}

/** The spelling by which header names are compared; only ASCII letters have a case (RFC 9110 section 5.1). */
export function headerKey(name: string): string {
  // Most are in lower case already.
  return upperCase.test(name) ? name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase()) : name;
}

/** The first control character of `text` as it can be shown, e.g. `"\r"`, quoted; `undefined` where there is none. */
export function controlCharacter(text: string): string | undefined {
  const found = control.exec(text)?.[0];
  return found === undefined ? undefined : quote(found);
}

/**
 * Whether `text` is a header value as the experimental channel demands it: printable ASCII with single blanks or
 * tabs inside only (Gateway API HTTPHeader.value).
 */
export function isPrintableHeaderValue(text: string): boolean {
  return printable.test(text);
}
