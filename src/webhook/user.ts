/** The API server writes the user after types and names, which have less than 2 KiB together. */
export const searchedBytes = 4 * 1024;
/** Longer names of users are compared by their beginning. */
const comparedBytes = 256;
const beforeName = '"userInfo":{"username":"';

/**
 * Returns the user who asks for a write, from the first bytes of a review as the API server writes it: before the objects, and without
 * spaces. Users take turns to have their reviews parsed, and share the bytes of bodies, so this must be known before. The name may be truncated and contain escapes: it
 * is only compared. Whoever else reaches the port can invent it. Returns '' for a review that is written in another way.
 */
export function userIn(chunks: readonly Buffer[]): string {
  const text = beginningOf(chunks);
  const found = text.indexOf(beforeName);
  if (found === -1) return '';
  const start = found + beforeName.length;
  const name = text.slice(start, start + comparedBytes);
  const end = name.indexOf('"');
  return end === -1 ? name : name.slice(0, end);
}

function beginningOf(chunks: readonly Buffer[]): string {
  let text = '';
  for (const chunk of chunks) {
    if (text.length >= searchedBytes) break;
    text += chunk.toString('latin1', 0, searchedBytes - text.length);
  }
  return text;
}
