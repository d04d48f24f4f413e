/**
 * Returns a hash of a text: FNV-1a with 64 bits, as 16 hexadecimal digits. Use it only where equal hashes of different texts do little
 * harm: anybody can construct them.
 */
export function hash64(text: string): string {
  const hash = Array.from(text).reduce(
    (sum, character) => BigInt.asUintN(64, (sum ^ BigInt(character.codePointAt(0) ?? 0)) * 0x100000001b3n),
    0xcbf29ce484222325n,
  );
  return hash.toString(16).padStart(16, '0');
}
