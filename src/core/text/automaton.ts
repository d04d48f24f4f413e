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

/** Whether a text is one of those that the pattern matches. */
export function accepts({ classOf, next, accepting }: Automaton, text: string): boolean {
  let state = 0;
  for (let index = 0; index < text.length; index++) {
    const character = text.codePointAt(index) ?? 0;
    // One character, though two units of the text.
    if (character > 0xff_ff) index += 1;
    state = next[state]?.[classOf[Math.min(character, beyondAscii)] ?? 0] ?? 0;
  }
  return accepting[state] ?? false;
}
