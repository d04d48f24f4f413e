import { withoutTrailing } from '../core/text/trim.ts';

/**
 * Limits of the API server: it drops a warning that contains a control character, truncates all warnings to 256 runes
 * if they exceed 4096 together, and ignores audit annotations whose key is not a qualified name.
 */
const warningRunes = 256;
const allWarningsRunes = 4096;
const annotationKeyLength = 63;
/** The limit of ValidatingAdmissionPolicy. */
const annotationBytes = 10 * 1024;
const ellipsisBytes = 3;
/** Only the beginning of a longer text is processed. */
const looked = 4 * warningRunes;

// Control characters as Go defines them (category Cc), and the separators and direction marks that break a terminal line.
const controls = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

/** Printable ASCII. Nearly all texts have nothing else, and this takes a fraction of the time that Unicode classes take. */
const plain = /^[ -~]*$/;

/** Returns `text` on one line, well-formed, with each run of control characters replaced by a space. */
export function cleanText(text: string): string {
  if (plain.test(text)) return text.trim();
  return text.toWellFormed().replace(controls, ' ').trim();
}

/** Maximum length of an object name. */
const nameCharacters = 253;

/** Cleans a name for output, and truncates it to the maximum length of a name. */
export function cleanName(name: string): string {
  return cut(cleanText(name.slice(0, 2 * nameCharacters)), nameCharacters);
}

/**
 * Returns the warnings in order, clean and without duplicates, at most 256 runes each and 4096 runes together. If some
 * are omitted, the last line contains their number.
 */
export function cleanWarnings(warnings: readonly string[]): readonly string[] {
  if (warnings.length === 0) return warnings;
  const distinct = [
    ...new Set(
      warnings
        .map((warning) => cut(cleanText(warning.slice(0, looked)), warningRunes))
        .filter((warning) => warning !== ''),
    ),
  ];
  let kept = 0;
  // Room for the last line is always reserved, so that the kept warnings do not depend on those that follow.
  for (let room = allWarningsRunes - runes(more(distinct.length)); kept < distinct.length; kept++) {
    room -= runes(distinct[kept] ?? '');
    if (room < 0) break;
  }
  return kept === distinct.length ? distinct : [...distinct.slice(0, kept), more(distinct.length - kept)];
}

function more(count: number): string {
  return `+${count} more: run \`sallyport check\` on the object to see all`;
}

/**
 * Returns annotations whose keys are valid name parts of a qualified name: other characters become `-`. Values are
 * truncated to 10 KiB. Keys without a valid character are dropped.
 */
export function cleanAuditAnnotations(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const entries = Object.entries(annotations).map(([key, value]) => [cleanKey(key), cutBytes(value.toWellFormed())]);
  return Object.fromEntries(entries.filter(([key]) => key !== ''));
}

function cleanKey(key: string): string {
  return trimKey(trimKey(key.replace(/[^A-Za-z0-9_.-]/g, '-')).slice(0, annotationKeyLength));
}

/** A name begins and ends with a letter or digit. */
function trimKey(key: string): string {
  let start = 0;
  let end = key.length;
  while (start < end && '-_.'.includes(key.charAt(start))) start++;
  while (end > start && '-_.'.includes(key.charAt(end - 1))) end--;
  return key.slice(start, end);
}

function cutBytes(text: string): string {
  if (Buffer.byteLength(text) <= annotationBytes) return text;
  // Truncation inside a character results in a replacement character, which is removed.
  const start = Buffer.from(text)
    .subarray(0, annotationBytes - ellipsisBytes)
    .toString();
  return `${withoutTrailing(start, '\uFFFD')}…`;
}

function cut(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const characters = Array.from(text);
  return characters.length <= maxLength ? text : `${characters.slice(0, maxLength - 1).join('')}…`;
}

function runes(text: string): number {
  if (plain.test(text)) return text.length;
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
