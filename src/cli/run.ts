import { ofQualifiedName } from '../core/resources/reference.ts';
import type { AddressInfo } from 'node:net';
import { decisionOf } from '../core/admission/decide.ts';
import type { KnownBundle } from '../core/admission/settings.ts';
import { decideInCluster } from '../webhook/decision.ts';
import { today } from '../webhook/today.ts';
import { readTlsSecret } from '../certificates/facts.ts';
import { createSessionKey } from '../certificates/session-keyring.ts';
import { addresses, demandsRoutability } from '../core/graph/listeners/addresses.ts';
import type { Delta, Write } from '../core/incremental/index.ts';
import { printable } from '../core/text/display.ts';
import { isReserved } from '../core/routing/config.ts';
import { configuration } from '../core/routing/emit.ts';
import { infrastructure } from '../core/routing/infrastructure.ts';
import type { Profile } from '../core/rules/engine/rule.ts';
import { statuses } from '../core/status/emit.ts';
import type { FileProblem } from '../files/document.ts';
import { watchFolder, type FolderChange } from '../files/watch.ts';
import { createCounters } from '../proxy/counters.ts';
import { createProxy } from '../proxy/proxy.ts';
import { createLogger, type Logger } from '../telemetry/log.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { buildProbes } from '../webhook/probes.ts';
import { Workspace } from '../workspace/workspace.ts';
import { limitBufferPool } from './process/buffer-pool.ts';
import { collectYoungAlone, expectShortLives, growBeforeCollecting } from './process/garbage-collection.ts';
import { InternalErrors } from './process/internal-errors.ts';
import { logNames } from './process/log-names.ts';
import { trafficLogs } from './process/traffic-logs.ts';
import { returnMemory } from './process/memory-return.ts';
import { exposeProxyCounters } from './process/proxy-metrics.ts';
import { startOrStop, type Shutdown } from './process/shutdown.ts';
import { findingLines } from './report/finding-lines.ts';
import { counted, describeTally, nothing } from './report/report.ts';
import { assumedBundle, filesOnly, policyOf, readConfigured } from './settings.ts';
import { hasManyLoopbackHosts, StandaloneAddresses } from './standalone/addresses.ts';
import { StandaloneDataPlane } from './standalone/data-plane.ts';
import { startDemoBackends } from './standalone/demo-backends.ts';
import { StandaloneProxies } from './standalone/proxies.ts';
import { printServing } from './standalone/report-serving.ts';
import { printStatuses } from './standalone/report-status.ts';
import { startStandaloneWebhook } from './standalone/standalone-webhook.ts';
import { createServingTerminal, type Terminal } from './terminal.ts';
import { wallNow } from '../time/clock.ts';
import { EvaluationQueue } from '../time/evaluation-queue.ts';
import { inSlices } from '../time/slices.ts';

/** Settings of `sallyport run`. Ports may be 0 for any free port. */
export interface RunOptions {
  readonly files: readonly string[];
  readonly demo: boolean;
  /** The IP address for Gateways that request none; without it, each gets a loopback address. */
  readonly listen?: string;
  readonly accessLog: boolean;
  readonly profile: Profile;
  /** A settings file of the webhook, which replaces the profile. */
  readonly settings?: string;
  readonly webhookPort: number;
  readonly probePort: number;
  /** Milliseconds that requests in flight get at the end. */
  readonly grace: number;
}

const host = '127.0.0.1';
const bundleOf = (): KnownBundle => ({ bundle: assumedBundle, certain: true });

/**
 * Standalone mode: judges the objects of some files, serves their Gateways and the webhook on this machine, and follows every change
 * of the files until stopped.
 *
 * @returns a function that drains, then resolves
 */
export function run(options: RunOptions): Promise<{ stop(): Promise<void> }> {
  collectYoungAlone();
  expectShortLives();
  growBeforeCollecting();
  limitBufferPool();
  return startOrStop((running) => start(options, running));
}

async function start(options: RunOptions, running: Shutdown): Promise<void> {
  const terminal = createServingTerminal();
  const log = createLogger('info');
  const policy = policyOf(options.profile, assumedBundle);
  const configured = await readConfigured(options.settings);
  const workspace = new Workspace(
    filesOnly(assumedBundle),
    policy,
    [configuration, infrastructure, statuses],
    configured,
  );
  const metrics = createMetrics();
  metrics.observeProcess();
  const errors = new InternalErrors(log, metrics);

  terminal.line(terminal.style('bold', printable(`sallyport run  ${options.files.join(' ')}`)));
  // Changes of the files during the start wait for its end.
  const started = Promise.withResolvers<(change: FolderChange) => Promise<void>>();
  const watcher = await watchFolder(options.files, async (change) => (await started.promise)(change));
  running.add(() => watcher.close());
  const initial = workspace.update(watcher.content.documents);
  const findings = await printFindings(terminal, workspace, watcher.content.problems);
  const evaluation = new EvaluationQueue(workspace.kernel);

  const places = new StandaloneAddresses(await hasManyLoopbackHosts(), {
    ...(options.listen === undefined ? {} : { listen: options.listen }),
    requested: (gateway) => requestedAddresses(workspace, gateway),
  });
  const sessionKeys = [createSessionKey(wallNow())];
  const counters = createCounters();
  exposeProxyCounters(metrics, counters);
  returnMemory(running, () => counters.buffered.used);
  const proxies = new StandaloneProxies({
    parametersOf: (gateway) => workspace.kernel.emitted(infrastructure).get(gateway)?.parameters ?? {},
    grace: options.grace,
    create(settings) {
      const proxy = createProxy({
        ...settings,
        counters,
        bind: (listener) => places.addressesOf(listener),
        certificates: (secret) => tlsMaterial(workspace, secret),
        onFault: errors.report,
        nameReport: logNames(log),
        ...(options.accessLog ? trafficLogs(log) : {}),
      });
      proxy.setSessionKeys(sessionKeys);
      return proxy;
    },
  });
  const plane = new StandaloneDataPlane(
    (change) => proxies.apply(change),
    (listener) => places.addressesOf(listener),
  );
  plane.onAcknowledged((writes) => void applyAcknowledgement(evaluation, writes, log));
  const demo = options.demo ? await startDemoBackends(workspace) : { backends: [], close: async () => {} };
  running.add(() => demo.close());
  running.add(() => plane.close());
  running.add(() => proxies.close(options.grace));
  await plane.publish(initial);

  const webhook = await startStandaloneWebhook(
    { host, port: options.webhookPort },
    {
      log,
      metrics,
      readable: () => evaluation.readable,
      decide: (request, mayContinue) =>
        configured === undefined
          ? decisionOf(request, { kernel: workspace.kernel, policy, mayContinue })
          : decideInCluster(request, {
              kernel: workspace.kernel,
              settings: () => configured.settings,
              bundleOf,
              today,
            }),
    },
  );
  running.add(() => webhook.close());
  const probes = buildProbes({
    ready: () => (running.stopping ? { ready: false, reasons: ['stopping'] } : { ready: true, reasons: [] }),
    metrics,
  });
  // Probes respond while everything else drains.
  running.last(async () => probes.close());
  await probes.listen({ host, port: options.probePort });

  await evaluation.applied;
  printStatusSection(terminal, workspace);
  const listeners = plane
    .listeners()
    .map((listener) => ({ listener, addresses: isReserved(listener) ? [] : proxies.addressesOf(listener.key) }));
  printServing(
    terminal,
    { listeners, backends: demo.backends, webhook, probes: { host, port: portOf(probes.server.address()) } },
    workspace,
  );
  errors.survive(running);
  started.resolve(createFollower({ terminal, workspace, evaluation, plane, proxies, log, findings }));
  terminal.line(
    `\nWatching ${printable(options.files.join(', '))}; edit a file to see the change applied. Ctrl-C stops.`,
  );
}

/**
 * The IP addresses in spec.addresses of a Gateway. An entry without a value requests any address. There are no ClusterIPs here, so a
 * Gateway that demands a routability in every entry gets no address.
 */
function requestedAddresses(workspace: Workspace, gateway: string): readonly string[] | 'none' {
  const { namespace, name } = ofQualifiedName(gateway);
  const entries = workspace.kernel.read.query(addresses, namespace, name);
  const open = entries.filter((entry) => !demandsRoutability(entry));
  if (open.length === 0 && entries.length > 0) return 'none';
  return open.flatMap((entry) =>
    entry.outcome === 'wanted' && entry.type === 'IPAddress' && entry.value !== '' ? [entry.value] : [],
  );
}

/** An error in the evaluation is internal. It must not break the channel that delivered the acknowledgement. */
async function applyAcknowledgement(evaluation: EvaluationQueue, writes: readonly Write[], log: Logger): Promise<void> {
  try {
    await evaluation.apply(writes, () => {});
  } catch (error) {
    log.error({ err: error }, 'cannot evaluate an acknowledgement');
  }
}

/** @returns a line for each finding */
async function printFindings(
  terminal: Terminal,
  workspace: Workspace,
  problems: readonly FileProblem[],
): Promise<readonly string[]> {
  terminal.heading('Findings');
  let tally = nothing;
  const lines = await findingLines(workspace, problems, {
    style: terminal.style,
    look: (reported) => {
      tally = counted(tally, reported);
    },
  });
  for (const line of lines) terminal.line(line);
  terminal.line(describeTally(tally));
  return lines;
}

function printStatusSection(terminal: Terminal, workspace: Workspace): void {
  terminal.heading('Status as the controller would write it');
  printStatuses(terminal, workspace.kernel.emitted(statuses));
}

interface Followed {
  readonly terminal: Terminal;
  readonly workspace: Workspace;
  readonly evaluation: EvaluationQueue;
  readonly plane: StandaloneDataPlane;
  readonly proxies: StandaloneProxies;
  readonly log: Logger;
  /** A line for each finding at the start. */
  readonly findings: readonly string[];
}

/** Applies a change of the files, and reports its effect. */
function createFollower({
  terminal,
  workspace,
  evaluation,
  plane,
  proxies,
  log,
  findings,
}: Followed): (change: FolderChange) => Promise<void> {
  let seen = new Set(findings);
  return async (change) => {
    try {
      const before = new Map(workspace.kernel.emitted(statuses));
      await plane.publish(await deltaOf(evaluation, await inSlices(workspace.take(change.documents))));
      const touched = [...change.added, ...change.changed.map(({ after }) => after), ...change.removed];
      if (touched.some((document) => isOfKind(document.value, 'ConfigMap', 'GatewayClass', 'Gateway')))
        await plane.sink.refresh(() => proxies.apply({ upserts: [], removals: [] }));
      if (touched.some((document) => isOfKind(document.value, 'Secret')))
        await plane.sink.refresh(() => proxies.reloadCertificates());
      const files = [...new Set(touched.map((document) => document.file))];
      terminal.heading(
        `${new Date(wallNow()).toLocaleTimeString()}  ${files.length === 0 ? 'no change applied' : `applied ${files.join(', ')}`}`,
      );
      const lines = await findingLines(workspace, change.problems, { style: terminal.style });
      for (const line of lines) if (!seen.has(line)) terminal.line(line);
      seen = new Set(lines);
      await evaluation.applied;
      printStatuses(
        terminal,
        [...workspace.kernel.emitted(statuses)].filter(([key, status]) => before.get(key) !== status),
      );
    } catch (error) {
      log.error({ err: error }, 'cannot apply a change of the files');
    }
  };
}

async function deltaOf(evaluation: EvaluationQueue, writes: readonly Write[]): Promise<Delta> {
  const delta = Promise.withResolvers<Delta>();
  await evaluation.apply(writes, delta.resolve);
  return await delta.promise;
}

function isOfKind(json: unknown, ...kinds: readonly unknown[]): boolean {
  return typeof json === 'object' && json !== null && kinds.includes((json as { kind?: unknown }).kind);
}

function tlsMaterial(
  workspace: Workspace,
  secret: string,
): { readonly cert: string; readonly key: string } | undefined {
  const { namespace, name } = ofQualifiedName(secret);
  const json = workspace.secret(namespace, name);
  const read = readTlsSecret(json);
  return read.type === 'material' ? { cert: read.material.certificate, key: read.material.privateKey } : undefined;
}

function portOf(address: string | AddressInfo | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
