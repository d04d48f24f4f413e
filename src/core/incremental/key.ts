const separator = '\u0000';
const escape = '\u0001';
/** Cannot be the key of arguments: an escape character is always followed by a letter in those. */
const keyOfNothing = escape;

interface Known {
  readonly args: readonly string[];
  readonly key: string;
}

// The last key by number of arguments (sparse): most queries about an object read others about the same object. To search more keys would
// take longer than it saves.
const last: Known[] = [];

/** A string that identifies a list of strings uniquely, whatever characters they contain. */
export function keyOf(args: readonly string[]): string {
  const before = last[args.length];
  if (before !== undefined && isEqual(args, before.args)) return before.key;
  const key = newKeyOf(args);
  remember(args, key);
  return key;
}

/** Returns the list of strings that a key identifies. */
export function argsOf(key: string): readonly string[] {
  for (const known of last) if (known?.key === key) return known.args;
  const args = newArgsOf(key);
  remember(args, key);
  return args;
}

function remember(args: readonly string[], key: string): void {
  if (args.length <= longest) last[args.length] = { args, key };
}

const longest = 4;

function isEqual(one: readonly string[], other: readonly string[]): boolean {
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

function newArgsOf(key: string): readonly string[] {
  if (key === keyOfNothing) return [];
  const args = key.split(separator);
  return key.includes(escape) ? args.map(unescaped) : args;
}

function unescaped(arg: string): string {
  return arg.replaceAll(`${escape}a`, separator).replaceAll(`${escape}b`, escape);
}
