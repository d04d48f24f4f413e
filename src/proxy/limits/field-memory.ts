import type { Fields } from '../../core/text/fields.ts';

/** Memory in bytes that a field takes besides its text: strings, and places in lists of names and fields. */
const perField = 96;

/** The length of all names and values. */
export function textLengthOf(fields: Fields): number {
  return fields.reduce((sum, text) => sum + text.length, 0);
}

/** About the memory in bytes that fields take. */
export function memoryOf(fields: Fields): number {
  return textLengthOf(fields) + (fields.length / 2) * perField;
}
