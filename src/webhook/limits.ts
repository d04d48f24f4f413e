/**
 * The last gate before the API server: it drops a warning that holds a control character, cuts all warnings to 256
 * runes once they exceed 4096 together, and ignores audit annotations whose key is no qualified name.
 */
const warningRunes = 256;
const allWarningsRunes = 4096;
const annotationKeyLength = 63;
/** What ValidatingAdmissionPolicy allows. */
const annotationBytes = 10 * 1024;
const ellipsisBytes = 3;
/** Of a longer text no more than its beginning is looked at. */
const looked = 4 * warningRunes;

// Control characters as Go counts them (category Cc), and the separators and direction marks that break a terminal's line.
const controls = /[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]+/gu;

/** `text` on one line, well-formed, with each run of control characters made one space. */
export function cleanText(text: string): string {
  return text.toWellFormed().replace(controls, ' ').trim();
}

/** As long as names of objects may be. */
const nameCharacters = 253;

/** A name as it is echoed, cut where it is longer than any name may be. */
export function cleanName(name: string): string {
  return cut(cleanText(name.slice(0, 2 * nameCharacters)), nameCharacters);
}

/**
 * The warnings in their order, each clean, at most 256 runes long and said once, at most 4096 runes together.
 * Where some had to go, the last line says how many.
 */
export function cleanWarnings(warnings: readonly string[]): readonly string[] {
  const distinct = [...new Set(warnings.map((warning) => cut(cleanText(warning.slice(0, looked)), warningRunes)).filter((warning) => warning !== ''))];
  let kept = 0;
  // Room for the last line is always reserved, so that what is kept does not depend on what follows.
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
 * Annotations under keys the API server takes as the name part of a qualified name: other characters become `-`.
 * Values are cut at 10 KiB; a key of which nothing is left is dropped.
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
  // A character that the cut split in two becomes a replacement character, which goes too.
  const whole = Buffer.from(text).subarray(0, annotationBytes - ellipsisBytes).toString().replace(/\uFFFD+$/, '');
  return `${whole}…`;
}

function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const characters = Array.from(text);
  return characters.length <= most ? text : `${characters.slice(0, most - 1).join('')}…`;
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
