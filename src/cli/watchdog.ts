import { hostname } from 'node:os';
import { createClient, EventRecorder, loadCredentials, systemClock } from '../kubernetes/index.ts';
import { createLogger, createMetrics, type LogLevel } from '../telemetry/index.ts';
import { Watchdog } from '../webhook/configuration/watchdog.ts';
import { buildProbes } from '../webhook/index.ts';
import { listenEverywhere } from './process/listen.ts';
import { controllerName } from './settings.ts';
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
 * Watches over the webhook until `stop`.
 *
 * @throws UsageError where the kubeconfig cannot be used
 */
export async function startWatchdog(options: WatchdogCommandOptions): Promise<{ stop(): Promise<void> }> {
  const { configuration, namespace, service, patience, probePort, logLevel } = options;
  const log = createLogger(logLevel);
  const metrics = createMetrics();
  metrics.observeProcess();
  const client = createClient(await orUsageError('the kubeconfig', loadCredentials('default')));
  const events = new EventRecorder({ client, clock: systemClock, log, controller: controllerName, instance: hostname() });
  const watchdog = new Watchdog({ client, log, metrics, events, configuration, service: { namespace, name: service }, patience });
  const ready = () => {
    const reasons = watchdog.problems();
    return { ready: reasons.length === 0, reasons };
  };
  const probes = buildProbes({ ready, metrics });
  await listenEverywhere(probes, probePort);
  const rounds = watchdog.start();
  log.info({ configuration, service, namespace, patience }, 'watchdog started');
  return {
    async stop() {
      await rounds.stop();
      await probes.close();
      await events.flush();
      await client.close();
    },
  };
}
