/**
 * Characters that regular expressions may read for one request, at about 5 ns each. A character counts again for each expression that
 * reads it. Characters that an expression does not read, because the ones before them exclude a match, do not count.
 */
export const maxMatchedCharacters = 1_000_000;

/** The regular expressions of the routes would read more than their allowance for one request. */
export class MatchTooCostly extends Error {}

/** Limits the work of regular expressions for one request: a few routes can have thousands of them for one long header. */
export class MatchAllowance {
  private left: number;

  constructor(characters = maxMatchedCharacters) {
    this.left = characters;
  }

  /**
   * Takes the characters that an expression has read. So the last one may read one value more than the allowance.
   *
   * @throws MatchTooCostly if fewer characters are left
   */
  take(characters: number): void {
    this.left -= characters;
    if (this.left < 0) throw new MatchTooCostly();
  }
}
