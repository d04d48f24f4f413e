/** The budget for building a table. */
export interface Allowance {
  readonly bytes: number;
  /** Elementary steps, some 10 ns each. */
  effort: number;
}

/** The budget is exceeded. */
export class TooCostly extends Error {
  readonly of: 'bytes' | 'effort';

  constructor(of: 'bytes' | 'effort') {
    super(`beyond the allowance of ${of}`);
    this.of = of;
  }
}

/**
 * Subtracts steps from the allowance.
 *
 * @throws TooCostly if fewer steps are left
 */
export function spend(allowance: Allowance, steps: number): void {
  allowance.effort -= steps;
  if (allowance.effort < 0) throw new TooCostly('effort');
}
