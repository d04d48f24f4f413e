import type { Metrics } from '../../telemetry/index.ts';
import { buildProbes, type Readiness } from '../../webhook/index.ts';
import { listenEverywhere } from './listen.ts';
import type { Shutdown } from './shutdown.ts';

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

/** Opens the probes and metrics of a server on a port (0: any). They answer while everything else drains, as not ready. */
export async function openProbes(port: number, metrics: Metrics, running: Shutdown): Promise<{ readonly readiness: ReadinessGate; readonly port: number }> {
  const readiness = new ReadinessGate(() => running.stopping);
  const probes = buildProbes({ ready: () => readiness.now(), metrics });
  running.last(() => probes.close());
  return { readiness, port: await listenEverywhere(probes, port) };
}
