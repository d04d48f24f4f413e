import type { Readiness } from '../webhook/index.ts';

/** Why something is not as it has to be, one short sentence each. */
type Requirement = () => readonly string[];

/** Collects what has to hold before the API server may send its calls here. */
export class ReadinessGate {
  readonly #isStopping: () => boolean;
  readonly #requirements: Requirement[] = [];
  #isStarted = false;

  constructor(isStopping: () => boolean) {
    this.#isStopping = isStopping;
  }

  require(requirement: Requirement): void {
    this.#requirements.push(requirement);
  }

  /** Says that all requirements are there. */
  started(): void {
    this.#isStarted = true;
  }

  now(): Readiness {
    const reasons = this.#isStopping() ? ['stopping'] : [...(this.#isStarted ? [] : ['starting']), ...this.#requirements.flatMap((requirement) => requirement())];
    return { ready: reasons.length === 0, reasons };
  }
}
