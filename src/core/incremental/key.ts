const separator = '\u0000';
const escape = '\u0001';
/** Cannot be the key of arguments: an escape character is always followed by a letter. */
const keyOfNothing = escape;

/** One string for a list of strings, different for different lists, whatever characters they contain. */
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
