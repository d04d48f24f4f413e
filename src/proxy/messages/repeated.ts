import type { Fields } from '../../core/text/fields.ts';

/**
 * Messages of one connection often have the same fields. Results that follow from the fields of a message are kept with
 * its connection, and used again for the next message if that has the same fields, byte by byte.
 */

/** The size of heads that are kept. Connections hold them until they are idle, and parsed fields take many times their bytes. */
const maxBytes = 2 * 1024;
const maxFields = 32;

/** Whether a connection keeps the fields of a head. `fields` alternates names and values. The fields refer to the whole text. */
export function isKept(text: string, fields: readonly string[]): boolean {
  return text.length <= maxBytes && fields.length <= 2 * maxFields;
}

const repeated = new WeakMap<Fields, { lines: string | undefined; inLowerCase: Fields | undefined }>();

/** Notes that fields are sent again, and do not change any more. */
export function noteRepeated(fields: Fields): void {
  repeated.set(fields, { lines: undefined, inLowerCase: undefined });
}

/** Whether the fields were noted. */
export function isRepeated(fields: Fields): boolean {
  return repeated.has(fields);
}

/** Returns what `format` returns for the fields. For repeated fields it is called only once, unless it returns `undefined`. */
export function repeatedLines(fields: Fields, format: (fields: Fields) => string | undefined): string | undefined {
  const known = repeated.get(fields);
  if (known === undefined) return format(fields);
  known.lines ??= inOnePiece(format(fields));
  return known.lines;
}

/** Returns what `convert` returns for the fields: for HTTP/2, names in lower case. For repeated fields it is called only once. */
export function repeatedInLowerCase(fields: Fields, convert: (fields: Fields) => Fields): Fields {
  const known = repeated.get(fields);
  if (known === undefined) return convert(fields);
  known.inLowerCase ??= convert(fields);
  return known.inLowerCase;
}

/** Copies text that was joined from many pieces, because it would be joined again with each use. */
export function inOnePiece<T extends string | undefined>(text: T): T {
  return (text === undefined ? undefined : Buffer.from(text, 'latin1').toString('latin1')) as T;
}
