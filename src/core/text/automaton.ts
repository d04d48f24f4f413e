/**
 * A pattern as a machine that reads a text once, from the first character to the last: it takes time in proportion to the
 * length of the text, whatever the pattern. `tools/pattern-automaton.ts` makes them.
 */
export interface Automaton {
  /** ASCII character → its class, and at the end the class of all others; characters of a class are the same to the pattern. */
  readonly classOf: readonly number[];
  /** State → class → next state. State 0 is the first. */
  readonly next: readonly (readonly number[])[];
  /** State → whether the text may end in it. */
  readonly accepting: readonly boolean[];
}

const beyondAscii = 128;

/**
 * Whether a text is one of those that the pattern matches. Texts may be very long, and the machine is asked for many: its table is
 * made once, and reading ends where nothing can change the outcome.
 */
export function readerOf({ classOf, next, accepting }: Automaton): (text: string) => boolean {
  const width = Math.max(...classOf) + 1;
  const classes = Uint8Array.from(classOf);
  const table = Uint16Array.from(next.flatMap((row) => Array.from({ length: width }, (_, characterClass) => row[characterClass] ?? 0)));
  const isFinal = Uint8Array.from(next, (row, state) => (row.every((other) => other === state) ? 1 : 0));
  return (text) => {
    let state = 0;
    for (let index = 0; index < text.length && isFinal[state] !== 1; index++) {
      const unit = text.charCodeAt(index);
      // One character, though two units of the text.
      if (unit >= 0xd8_00 && unit <= 0xdb_ff && (text.codePointAt(index) ?? 0) > 0xff_ff) index += 1;
      state = table[state * width + (classes[Math.min(unit, beyondAscii)] ?? 0)] ?? 0;
    }
    return accepting[state] ?? false;
  };
}
