/**
 * Characters that regular expressions may read for one request, at about 5 ns each. A character counts again for each expression that
 * reads it. Characters that an expression does not read, because the ones before them exclude a match, do not count.
 */
export const maxMatchedCharacters = 1_000_000;

/** Conditions of matches that may be checked for one request, at about 0.25 µs each if there are so many. */
export const maxCheckedConditions = 20_000;

/** Finding the route of a request would take more than its allowance. */
export class MatchTooCostly extends Error {}

/**
 * Limits the work to find the route of one request: a few routes can have thousands of regular expressions for one long header, and
 * many routes can have a hundred thousand matches for one path.
 */
export class MatchAllowance {
  private left: number;
  private conditionsLeft = maxCheckedConditions;

  constructor(characters = maxMatchedCharacters) {
    this.left = characters;
  }

  /**
   * Takes one condition that is checked.
   *
   * @throws MatchTooCostly if none is left
   */
  takeCondition(): void {
    this.conditionsLeft -= 1;
    if (this.conditionsLeft < 0) throw new MatchTooCostly();
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
