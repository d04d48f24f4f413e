const separator = '\u0000';
const escape = '\u0001';
/** Cannot be the key of arguments: an escape character is always followed by a letter in those. */
const keyOfNothing = escape;

// Most queries about an object read others about the same object. Caching more than the last key would take longer than it saves.
let last: { readonly args: readonly string[]; readonly key: string } = { args: [], key: keyOfNothing };

/** A string that identifies a list of strings uniquely, whatever characters they contain. */
export function keyOf(args: readonly string[]): string {
  if (isEqual(args, last.args)) return last.key;
  const key = newKeyOf(args);
  last = { args, key };
  return key;
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let position = one.length - 1; position >= 0; position--) if (one[position] !== other[position]) return false;
  return true;
}

function newKeyOf(args: readonly string[]): string {
  if (args.length === 0) return keyOfNothing;
  for (const arg of args) {
    if (arg.includes(separator) || arg.includes(escape)) return args.map(escaped).join(separator);
  }
  return args.join(separator);
}

function escaped(arg: string): string {
  return arg.replaceAll(escape, `${escape}b`).replaceAll(separator, `${escape}a`);
}
