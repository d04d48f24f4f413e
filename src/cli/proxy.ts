import { readSmallText } from '../files/read-file.ts';
import { setTimeout as delay } from 'node:timers/promises';
import {
  connectChannel,
  ConfigurationSink,
  type CertificateResource,
  sessionKeysKey,
  type ConfigChange,
  type CurrentProblem,
} from '../channel/index.ts';
import { traceResourceKey } from '../channel/trace.ts';
import type { AddressRange } from '../core/text/ip-address.ts';
import type { ProxyVersions } from '../core/text/proxy-protocol.ts';
import type { ForwardedPolicy } from '../proxy/messages/forwarding-fields.ts';
import type { ProxyLimits } from '../proxy/limits/limits.ts';
import type { ProxyProtocolSettings } from '../proxy/proxy-protocol/settings.ts';
import { monotonicNow } from '../time/clock.ts';
import { createProxy, type Proxy } from '../proxy/proxy.ts';
import { createLogger, createMetrics, type LogLevel } from '../telemetry/index.ts';
import { limitBufferPool } from './process/buffer-pool.ts';
import { collectYoungAlone, expectShortLives, growBeforeCollecting } from './process/garbage-collection.ts';
import { InternalErrors } from './process/internal-errors.ts';
import { logNames } from './process/log-names.ts';
import { returnMemory } from './process/memory-return.ts';
import { defaultWorkers } from './process/default-workers.ts';
import { exposeProxyCounters } from './process/proxy-metrics.ts';
import { openProbes } from './process/readiness.ts';
import { startOrStop, type Shutdown } from './process/shutdown.ts';
import { trafficLogs } from './process/traffic-logs.ts';
import { startWorkers } from './process/workers.ts';

/** Settings of `sallyport proxy`. Durations in milliseconds. */
export interface ProxyCommandOptions {
  /** `host:port`. */
  readonly controller: string;
  /** `namespace/name` of the Gateway to serve. */
  readonly gateway: string;
  readonly tokenFile: string;
  readonly caFile: string;
  /** The address that all listeners bind to, each with its own port. */
  readonly bind: string;
  readonly forwarded: ForwardedPolicy;
  readonly acceptProxyProtocol?: readonly AddressRange[];
  readonly sendProxyProtocol?: ProxyVersions;
  readonly connectionsPerClient: number;
  /** Milliseconds. */
  readonly tcpIdleTimeout: number;
  /** Milliseconds. */
  readonly udpIdleTimeout: number;
  readonly udpFlows: number;
  readonly internalBackendNetworks?: readonly AddressRange[];
  readonly probePort: number;
  /** If undefined, one for each CPU of the container's limit. */
  readonly workers?: number;
  /** The pod's name. */
  readonly identity: string;
  readonly accessLog: boolean;
  /** Milliseconds to accept new connections after a stop, until load balancers have noticed. */
  readonly drain: number;
  /** Milliseconds that requests in flight may take after that. */
  readonly grace: number;
  readonly logLevel: LogLevel;
}

/**
 * Serves the traffic of one Gateway with the configuration from its controller, until `stop`. Without the controller it continues
 * with its last configuration.
 *
 * @returns a function that drains, then resolves
 */
export function startProxy(options: ProxyCommandOptions): Promise<{ stop(): Promise<void> }> {
  collectYoungAlone();
  expectShortLives();
  growBeforeCollecting();
  limitBufferPool();
  return startOrStop((running) => start(options, running));
}

const applyDuration = {
  name: 'proxy_configuration_duration_seconds',
  help: 'Time from the receipt of a change of the configuration until it is in force.',
  labels: [],
};
/** In seconds. */
const applyBounds = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.5, 1, 5];

/** One client address may use at most a quarter of the flows. */
function limitsOf({
  connectionsPerClient,
  tcpIdleTimeout,
  udpIdleTimeout,
  udpFlows,
}: ProxyCommandOptions): Partial<ProxyLimits> {
  return { connectionsPerClient, tcpIdleTimeout, udpIdleTimeout, udpFlows, udpFlowsPerClient: Math.ceil(udpFlows / 4) };
}

function proxyProtocolOf({
  acceptProxyProtocol: accept,
  sendProxyProtocol: send,
}: ProxyCommandOptions): ProxyProtocolSettings {
  return { ...(accept === undefined ? {} : { accept }), ...(send === undefined ? {} : { send }) };
}

async function start(options: ProxyCommandOptions, running: Shutdown): Promise<void> {
  const log = createLogger(options.logLevel);
  const metrics = createMetrics();
  metrics.observeProcess();
  const errors = new InternalErrors(log, metrics);
  const { readiness, port: probePort } = await openProbes(options.probePort, metrics, running);

  const certificates = new ReceivedCertificates();
  const settings = {
    bind: ({ port }: { readonly port: number }) => [{ host: options.bind, port }],
    forwarded: options.forwarded,
    proxyProtocol: proxyProtocolOf(options),
    limits: limitsOf(options),
    ...(options.internalBackendNetworks && { internalBackendNetworks: options.internalBackendNetworks }),
    certificates: (secret: string) => certificates.pairOf(secret),
    nameReport: logNames(log),
  };
  const workers = options.workers ?? defaultWorkers();
  const logs = options.accessLog;
  const proxy =
    workers > 1
      ? startWorkers(settings, { workers, logs, log, errors, metrics, readiness, running })
      : createProxy({ ...settings, onFault: errors.report, ...(logs ? trafficLogs(log) : {}) });
  const counters = proxy.counters();
  exposeProxyCounters(metrics, counters);
  if (workers === 1) returnMemory(running, () => counters.buffered.used);
  const applied = metrics.histogram(applyDuration, applyBounds).at();
  const sink = new ConfigurationSink(async (change) => {
    const began = monotonicNow();
    const problems = await applyChange(change, proxy, certificates);
    applied.observe((monotonicNow() - began) / 1000);
    return problems;
  });
  const connection = connectChannel({
    address: options.controller,
    gateway: options.gateway,
    name: options.identity,
    authorities: () => readSmallText(options.caFile),
    token: () => readSmallText(options.tokenFile),
    sink,
    log,
  });
  metrics.observed(
    { name: 'proxy_controller_connected', help: 'Whether a controller is connected.', labels: [] },
    () => [{ labels: [], value: connection.isConnected ? 1 : 0 }],
  );
  // Closed late, because endpoints still change during the drain.
  running.add(() => connection.close());
  running.add(() => proxy.close({ graceMs: options.grace, idleMs: options.grace / 2 }));
  running.add(async () => {
    proxy.retire();
    await delay(options.drain);
  });
  readiness.require(() => (sink.isSynchronised ? [] : ['the configuration is not synced yet']));
  errors.survive(running);
  readiness.started();
  log.info({ gateway: options.gateway, controller: options.controller, probePort, workers }, 'proxy started');
}

async function applyChange(
  change: ConfigChange,
  proxy: Proxy,
  certificates: ReceivedCertificates,
): Promise<readonly CurrentProblem[]> {
  // Before the listeners and routes that use them.
  certificates.add(change.certificates);
  if (change.sessionKeys !== undefined) proxy.setSessionKeys(change.sessionKeys.keys);
  else if (change.removals.includes(sessionKeysKey)) proxy.setSessionKeys([]);
  if (change.traceKey !== undefined) proxy.setTraceKey(change.traceKey.secret);
  else if (change.removals.includes(traceResourceKey)) proxy.setTraceKey(undefined);
  const problems = await proxy.apply(change);
  const haveGone = certificates.remove(change.removals);
  return haveGone || change.certificates.length > 0 ? proxy.reloadCertificates() : problems;
}

/** The certificates from the controller. */
class ReceivedCertificates {
  private readonly byKey = new Map<string, CertificateResource>();
  private readonly keyOf = new Map<string, string>();

  pairOf(secret: string): { readonly cert: string; readonly key: string } | undefined {
    const held = this.byKey.get(this.keyOf.get(secret) ?? '');
    return held === undefined ? undefined : { cert: held.certificate, key: held.privateKey };
  }

  add(certificates: readonly CertificateResource[]): void {
    for (const certificate of certificates) {
      this.byKey.set(certificate.key, certificate);
      this.keyOf.set(certificate.secret, certificate.key);
    }
  }

  /** Removes the certificates with these keys. Returns whether there were any. */
  remove(keys: readonly string[]): boolean {
    const gone = keys.flatMap((key) => this.byKey.get(key) ?? []);
    for (const { key, secret } of gone) {
      this.byKey.delete(key);
      this.keyOf.delete(secret);
    }
    return gone.length > 0;
  }
}
