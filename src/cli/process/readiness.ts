import type { Metrics } from '../../telemetry/index.ts';
import { buildProbes, type Readiness } from '../../webhook/probes.ts';
import { listenEverywhere } from './listen.ts';
import type { Shutdown } from './shutdown.ts';

/** Requirements that are not met, one short sentence each. */
type Requirement = () => readonly string[];

/** Collects the requirements for readiness, before which the API server must not send calls. */
export class ReadinessGate {
  private readonly isStopping: () => boolean;
  private readonly requirements: Requirement[] = [];
  private isStarted = false;

  constructor(isStopping: () => boolean) {
    this.isStopping = isStopping;
  }

  require(requirement: Requirement): void {
    this.requirements.push(requirement);
  }

  /** Declares that all requirements are registered. */
  started(): void {
    this.isStarted = true;
  }

  now(): Readiness {
    const reasons = this.isStopping()
      ? ['stopping']
      : [...(this.isStarted ? [] : ['starting']), ...this.requirements.flatMap((requirement) => requirement())];
    return { ready: reasons.length === 0, reasons };
  }
}

/** Serves the probes and metrics on a port (0: any free port). During a drain they still respond, as not ready. */
export async function openProbes(
  port: number,
  metrics: Metrics,
  running: Shutdown,
): Promise<{ readonly readiness: ReadinessGate; readonly port: number }> {
  const readiness = new ReadinessGate(() => running.stopping);
  const probes = buildProbes({ ready: () => readiness.now(), metrics });
  running.last(() => probes.close());
  return { readiness, port: await listenEverywhere(probes, port) };
}
