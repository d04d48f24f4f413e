import { setTimeout as delay } from 'node:timers/promises';
import {
  AuthorityRotation,
  certificateExpiry,
  checkRotationPolicy,
  ManagedCertificate,
  observeCertificates,
  serviceNames,
  watchCertificateFiles,
  type BundleStore,
  type CertificateFiles,
  type CertificateSource,
  type RotationPolicy,
  type Rounds,
  type SecretStore,
} from '../certificates/index.ts';
import { BundlesInForce } from '../cluster/bundles-in-force.ts';
import { admissionKinds, ClusterState, followCluster } from '../cluster/cluster-state.ts';
import { ClusterSecretStore } from '../cluster/secret-store.ts';
import { findingCounts } from '../core/admission/impact.ts';
import { defaultSettings, type KnownBundle, type Settings } from '../core/admission/settings.ts';
import { linkedFindings } from '../core/admission/stored.ts';
import { createEvaluation } from '../core/evaluation.ts';
import {
  createClient,
  Election,
  EventRecorder,
  loadCredentials,
  ReadingPace,
  type ApiClient,
} from '../kubernetes/index.ts';
import { systemClock } from '../time/clock.ts';
import { EvaluationQueue } from '../time/evaluation-queue.ts';
import {
  createAdmissionMetrics,
  createLogger,
  createMetrics,
  type Logger,
  type LogLevel,
  type Metrics,
} from '../telemetry/index.ts';
import { Auditor } from '../webhook/audit/auditor.ts';
import { ClusterBundleStore } from '../webhook/configuration/bundle-store.ts';
import { FailurePolicyKeeper } from '../webhook/configuration/failure-policy-keeper.ts';
import { startSelfCheck } from '../webhook/configuration/self-check.ts';
import { WarningConfiguration } from '../webhook/configuration/warning-configuration.ts';
import { catchUp } from '../webhook/catch-up.ts';
import { decideInCluster } from '../webhook/decision.ts';
import { impactInCluster } from '../webhook/impact-decision.ts';
import { today } from '../webhook/today.ts';
import { buildWebhook } from '../webhook/index.ts';
import { exposeEvaluation } from './process/evaluation-metrics.ts';
import { limitBufferPool } from './process/buffer-pool.ts';
import { expectShortLives, growBeforeCollecting } from './process/garbage-collection.ts';
import { InternalErrors } from './process/internal-errors.ts';
import { listenEverywhere } from './process/listen.ts';
import { returnMemory } from './process/memory-return.ts';
import { openProbes } from './process/readiness.ts';
import { followPolicySettings, type FollowedSettings } from './process/policy-settings.ts';
import { openSettings } from './process/settings-file.ts';
import { startOrStop, type Shutdown } from './process/shutdown.ts';
import { controllerName } from './names.ts';
import { orUsageError } from './usage-error.ts';

/** Settings of `sallyport webhook`. */
export interface WebhookCommandOptions {
  /** The settings file. Without it, the defaults apply. */
  readonly settings?: string;
  /** 0 for any free port. */
  readonly port: number;
  readonly probePort: number;
  /** Milliseconds to continue serving at the end, while clients still send calls to this replica. */
  readonly drain: number;
  /** The namespace of the webhook, and the names of its objects there. */
  readonly namespace: string;
  readonly service: string;
  readonly secret: string;
  readonly lease: string;
  /** Name of the ValidatingWebhookConfiguration. */
  readonly configuration: string;
  /**
   * Name of the ValidatingWebhookConfiguration for warnings about changes of Services, Secrets, ConfigMaps, ClusterTrustBundles and
   * Namespaces. Without it, there are none.
   */
  readonly impactConfiguration?: string;
  /** Unique among the replicas. */
  readonly identity: string;
  /** Lifetimes of the project's own authority and of its certificates. */
  readonly rotation: RotationPolicy;
  /** Certificate to serve instead of one from the project's own authority. */
  readonly certificate?: CertificateFiles;
  /** Judge all stored objects continuously, and write reports. */
  readonly auditReports: boolean;
  readonly logLevel: LogLevel;
}

/**
 * Milliseconds between two readings of events. Each review reads the events that have arrived before it is decided, so a pause never
 * makes the evaluation older.
 */
const readingPause = 250;

/**
 * Validates writes in a cluster until `stop`: follows the objects, responds to the API server, keeps its certificate trusted and
 * applies the failurePolicy of the settings.
 *
 * @returns a function that gives up readiness and leadership at once, serves for the time of the drain, and closes
 * @throws UsageError if settings, lifetimes, kubeconfig or certificate are invalid
 */
export function startWebhook(options: WebhookCommandOptions): Promise<{ stop(): Promise<void> }> {
  expectShortLives();
  growBeforeCollecting();
  limitBufferPool();
  return startOrStop((running) => start(options, running));
}

async function start(options: WebhookCommandOptions, running: Shutdown): Promise<void> {
  await orUsageError('these certificate lifetimes', Promise.try(checkRotationPolicy, options.rotation));
  const log = createLogger(options.logLevel);
  const metrics = createMetrics();
  metrics.observeProcess();
  const errors = new InternalErrors(log, metrics);
  returnMemory(running);
  const live = await followSettings(options, running, { log, metrics });
  const settings = () => live.current();
  const { readiness } = await openProbes(options.probePort, metrics, running);

  const client = createClient(await orUsageError('the kubeconfig', loadCredentials('default')));
  running.add(() => client.close());
  const kernel = createEvaluation(options.auditReports ? [findingCounts, linkedFindings] : [findingCounts]);
  exposeEvaluation(metrics, kernel);
  const evaluation = new EvaluationQueue(kernel);
  const readable = () => evaluation.readable;
  const inForce = new BundlesInForce({ log, metrics });
  const bundleOf = (group: string, resource: string): KnownBundle => inForce.bundleOf(group, resource);
  const auditor = options.auditReports
    ? new Auditor({
        client,
        clock: systemClock,
        log,
        metrics,
        kernel,
        readable,
        settings,
        bundleOf,
        ready: () => state.problems().length === 0,
        today,
      })
    : undefined;
  followPolicySettings(live, (writes) => {
    void evaluation.apply(writes, (delta) => auditor?.observe([], delta));
  });
  const pace = new ReadingPace(() => readingPause);
  const state = new ClusterState({
    evaluation,
    kinds: admissionKinds,
    controllerName,
    follow: followCluster(client, log, pace),
    onInstalled(installed) {
      inForce.update(installed);
      auditor?.reconsiderAll();
    },
    onChange: (events, delta) => auditor?.observe(events, delta),
  });
  running.add(() => state.stop());
  readiness.require(() => state.problems());

  const cluster: Surroundings = { options, running, client, log, metrics };
  const bundles = new ClusterBundleStore({ client, log }, options.configuration);
  const secrets = new ClusterSecretStore({ client, log }, { namespace: options.namespace, name: options.secret });
  const election = seekLeadership(cluster, { bundles, secrets, settings, auditor });
  const certificates = await provideCertificate(cluster, secrets);
  const app = buildWebhook({
    certificates,
    log,
    metrics: createAdmissionMetrics(metrics, {
      cacheAge: () => state.age(),
      certificateExpiry: () => certificateExpiry(certificates.current()),
    }),
    draining: () => running.stopping,
    catchUp: catchUp(pace, evaluation),
    readable,
    ...(options.impactConfiguration === undefined
      ? {}
      : { impact: (request) => impactInCluster(request, { kernel, settings }) }),
    decide: (request) => decideInCluster(request, { kernel, settings, bundleOf, today }),
  });
  running.add(() => app.close());
  const port = await listenEverywhere(app, options.port);
  // Readiness has already ended, so clients move away from this replica, and responses ask to close the connection. Meanwhile another
  // replica becomes the leader.
  running.add(async () => {
    await Promise.all([delay(options.drain), election.stop()]);
  });
  const check = startSelfCheck({
    bundles,
    certificates,
    address: { host: '127.0.0.1', port },
    serverName: `${options.service}.${options.namespace}.svc`,
  });
  running.add(() => check.stop());
  readiness.require(() => [check.problem()].filter((problem) => problem !== undefined));
  errors.survive(running);
  readiness.started();
  log.info({ port, probePort: options.probePort, configuration: options.configuration }, 'webhook started');
}

async function followSettings(
  { settings: file }: WebhookCommandOptions,
  running: Shutdown,
  telemetry: { readonly log: Logger; readonly metrics: Metrics },
): Promise<FollowedSettings> {
  if (file === undefined) return { current: () => defaultSettings, onChange: () => {} };
  const settings = await openSettings(file, telemetry);
  running.add(() => settings.close());
  return settings;
}

interface Surroundings {
  readonly options: WebhookCommandOptions;
  readonly running: Shutdown;
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
}

interface Leadership {
  readonly bundles: BundleStore;
  readonly secrets: SecretStore;
  readonly settings: () => Settings;
  readonly auditor: Auditor | undefined;
}

/** One replica holds the lease. It renews the authority, sets the failurePolicy and audits stored objects. */
function seekLeadership(
  { options, running, client, log, metrics }: Surroundings,
  { bundles, secrets, settings, auditor }: Leadership,
): Election {
  const { namespace, configuration, identity, lease: name, rotation: policy } = options;
  const events = new EventRecorder({ client, clock: systemClock, log, controller: controllerName, instance: identity });
  running.add(() => events.flush());
  const keeper = new FailurePolicyKeeper({
    client,
    log,
    metrics,
    events,
    configuration,
    wanted: () => settings().failurePolicy,
  });
  const rotation = new AuthorityRotation({ secrets, bundles, policy, log });
  const { impactConfiguration } = options;
  const duties = [
    keeper,
    ...(options.certificate === undefined ? [rotation] : []),
    ...(auditor === undefined ? [] : [auditor]),
    ...(impactConfiguration === undefined
      ? []
      : [new WarningConfiguration({ client, log, bundles, configuration: impactConfiguration })]),
  ];
  const election = new Election({
    client,
    clock: systemClock,
    log,
    namespace,
    name,
    identity,
    lead: (term) =>
      untilEndOf(
        term,
        duties.map((duty) => duty.start()),
      ),
  });
  running.add(() => election.stop());
  return election;
}

/** The serving certificate: one from the project's own authority as soon as a leader has created that, or the one in the files. */
async function provideCertificate(
  { options, running, log, metrics }: Surroundings,
  secrets: SecretStore,
): Promise<CertificateSource> {
  const { certificate: files, service, namespace, rotation: policy } = options;
  if (files !== undefined) {
    const watched = await orUsageError('the certificate', watchCertificateFiles(files, log));
    running.add(() => watched.stop());
    return watched.source;
  }
  const managed = new ManagedCertificate({ secrets, names: serviceNames(service, namespace), policy, log });
  observeCertificates(metrics, {
    serving: () => seconds(managed.leaf?.notAfter),
    authority: () => seconds(managed.leaf?.authorityNotAfter),
  });
  const rounds = managed.start();
  running.add(() => rounds.stop());
  return managed.issued();
}

async function untilEndOf(term: AbortSignal, duties: readonly Rounds[]): Promise<void> {
  if (!term.aborted)
    await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.all(duties.map((duty) => duty.stop()));
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : milliseconds / 1000;
}
