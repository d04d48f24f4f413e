import { hostname } from 'node:os';
import { createClient, EventRecorder, loadCredentials } from '../kubernetes/index.ts';
import { systemClock } from '../time/clock.ts';
import { createLogger, createMetrics, type LogLevel } from '../telemetry/index.ts';
import { EndpointWatch } from '../webhook/configuration/endpoint-watch.ts';
import { Watchdog } from '../webhook/configuration/watchdog.ts';
import { buildProbes } from '../webhook/probes.ts';
import { listenEverywhere } from './process/listen.ts';
import { controllerName } from './names.ts';
import { InternalErrors } from './process/internal-errors.ts';
import { returnMemory } from './process/memory-return.ts';
import { startOrStop, type Shutdown } from './process/shutdown.ts';
import { orUsageError } from './usage-error.ts';

/** Settings of `sallyport watchdog`. */
export interface WatchdogCommandOptions {
  readonly configuration: string;
  readonly namespace: string;
  readonly service: string;
  /** Milliseconds. */
  readonly patience: number;
  readonly probePort: number;
  readonly logLevel: LogLevel;
}

/**
 * Monitors the webhook until `stop`.
 *
 * @throws UsageError if the kubeconfig is unusable
 */
export function startWatchdog(options: WatchdogCommandOptions): Promise<{ stop(): Promise<void> }> {
  return startOrStop((running) => start(options, running));
}

async function start(
  { configuration, namespace, service, patience, probePort, logLevel }: WatchdogCommandOptions,
  running: Shutdown,
): Promise<void> {
  const log = createLogger(logLevel);
  const metrics = createMetrics();
  metrics.observeProcess();
  const errors = new InternalErrors(log, metrics);
  returnMemory(running);
  const client = createClient(await orUsageError('the kubeconfig', loadCredentials('default')));
  running.add(() => client.close());
  const events = new EventRecorder({
    client,
    clock: systemClock,
    log,
    controller: controllerName,
    instance: hostname(),
  });
  running.add(() => events.flush());
  const watched = { namespace, name: service };
  const watch = new EndpointWatch({ client, clock: systemClock, log }, watched);
  running.add(() => watch.stop());
  const watchdog = new Watchdog({
    client,
    log,
    metrics,
    events,
    configuration,
    service: watched,
    watch,
    patience,
  });
  const ready = () => {
    const reasons = watchdog.problems();
    return { ready: reasons.length === 0, reasons };
  };
  const probes = buildProbes({ ready, metrics });
  running.add(() => probes.close());
  await listenEverywhere(probes, probePort);
  const rounds = watchdog.start();
  running.add(() => rounds.stop());
  errors.survive(running);
  log.info({ configuration, service, namespace, patience }, 'watchdog started');
}
