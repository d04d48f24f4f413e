/** What making a table may take. */
export interface Allowance {
  readonly bytes: number;
  /** Elementary steps, some 10 ns each. */
  effort: number;
}

/** More than what is allowed would be needed. */
export class TooCostly extends Error {
  readonly of: 'bytes' | 'effort';

  constructor(of: 'bytes' | 'effort') {
    super(`beyond the allowance of ${of}`);
    this.of = of;
  }
}

/**
 * Takes steps off the allowance.
 *
 * @throws TooCostly where that many are not left
 */
export function spend(allowance: Allowance, steps: number): void {
  allowance.effort -= steps;
  if (allowance.effort < 0) throw new TooCostly('effort');
}
