const separator = '\u0000';
const escape = '\u0001';
/** Cannot be the key of arguments: an escape character is always followed by a letter in those. */
const keyOfNothing = escape;

/** A string that identifies a list of strings uniquely, whatever characters they contain. */
export function keyOf(args: readonly string[]): string {
  if (args.length === 0) return keyOfNothing;
  for (const arg of args) {
    if (arg.includes(separator) || arg.includes(escape)) return args.map(escaped).join(separator);
  }
  return args.join(separator);
}

function escaped(arg: string): string {
  return arg.replaceAll(escape, `${escape}b`).replaceAll(separator, `${escape}a`);
}
