/** Characters that regular expressions may read for one request, at some 5 ns each. The value of a match counts for each expression. */
export const mostMatchedCharacters = 1_000_000;

/** The expressions of the routes would read too much. */
export class MatchTooCostly extends Error {}

/** Limits the work of regular expressions for one request: a few routes can have thousands of them for one long header. */
export class MatchAllowance {
  #left: number;

  constructor(characters = mostMatchedCharacters) {
    this.#left = characters;
  }

  /**
   * Takes the characters of a value, before an expression reads it.
   *
   * @throws MatchTooCostly if fewer characters are left
   */
  take(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new MatchTooCostly();
  }
}
