import { withoutBlanks } from '../../core/text/fields.ts';

/**
 * Field lines (RFC 9112 section 5) up to the end of the text, as Latin-1, each with a line break before it. One pass
 * validates every byte: no folded lines, no bare CR or LF, no whitespace before a colon.
 */
export const fieldLines = /(?:\r\n[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*)*$/;

const wholeSection = new RegExp(`^${fieldLines.source}`);

/** Parses the lines of a trailer section, each with a line break before it; `undefined` for a syntax error. */
export function parseFieldLines(text: string): string[] | undefined {
  return wholeSection.test(text) ? fieldsFrom(text, 0) : undefined;
}

/** Returns the fields of valid lines; `position` is the line break before the first one. */
export function fieldsFrom(text: string, position: number): string[] {
  const fields: string[] = [];
  let start = position + 2;
  while (start < text.length) {
    const colon = text.indexOf(':', start);
    const next = text.indexOf('\r\n', colon);
    const end = next === -1 ? text.length : next;
    fields.push(text.slice(start, colon), withoutBlanks(text, colon + 1, end));
    start = end + 2;
  }
  return fields;
}
