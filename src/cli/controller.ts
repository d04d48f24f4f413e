import { setTimeout as delay } from 'node:timers/promises';
import {
  AuthorityRotation,
  defaultRotationPolicy,
  joinPem,
  ManagedCertificate,
  serviceNames,
  type RotationPolicy,
  SessionKeyring,
  startRounds,
} from '../certificates/index.ts';
import { PublishedAuthorities } from '../certificates/published-authorities.ts';
import { BundleRecord } from '../cluster/bundle-record.ts';
import { BundleWatch } from '../cluster/bundle-watch.ts';
import { ClusterState, controllerKinds, followCluster } from '../cluster/cluster-state.ts';
import { clusterWriter } from '../cluster/cluster-writer.ts';
import { serveDataPlanes } from '../cluster/data-plane-channel.ts';
import { OwnObjects } from '../cluster/own-objects.ts';
import { ClusterSecretStore } from '../cluster/secret-store.ts';
import { Controller, type DataPlaneSettings } from '../controller/index.ts';
import { createEvaluation } from '../core/evaluation.ts';
import { configuration } from '../core/routing/emit.ts';
import { infrastructure } from '../core/routing/infrastructure.ts';
import { selectorServices } from '../core/routing/selector-services.ts';
import { statuses } from '../core/status/emit.ts';
import type { Write } from '../core/incremental/index.ts';
import type { AddressRange } from '../core/text/ip-address.ts';
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
import { createLogger, createMetrics, type Logger, type LogLevel, type Metrics } from '../telemetry/index.ts';
import { imageOfPod } from './own-image.ts';
import { exposeEvaluation } from './process/evaluation-metrics.ts';
import { limitBufferPool } from './process/buffer-pool.ts';
import { growBeforeCollecting } from './process/garbage-collection.ts';
import { InternalErrors } from './process/internal-errors.ts';
import { returnMemory } from './process/memory-return.ts';
import { followPolicySettings } from './process/policy-settings.ts';
import { openProbes } from './process/readiness.ts';
import { openOptionalSettings } from './process/settings-file.ts';
import { startOrStop, type Shutdown } from './process/shutdown.ts';
import { controllerName, shortestTraceSecret, traceSecretName } from './names.ts';

/** Settings of `sallyport controller`. */
export interface ControllerCommandOptions {
  /** Port for data planes. 0 for any free port. */
  readonly port: number;
  readonly probePort: number;
  /** The namespace of the controller, and the names of its objects there. */
  readonly namespace: string;
  readonly service: string;
  readonly secret: string;
  readonly lease: string;
  /** The pod's name, unique among the replicas. */
  readonly identity: string;
  /** The pod's uid. */
  readonly uid?: string;
  /** Image of the data planes. Default: the image of this pod. */
  readonly image?: string;
  /** The settings file of the webhook, whose HostnamePolicies apply. It need not exist. */
  readonly settings?: string;
  /** Addresses for data planes. If not set, the cluster's load balancer assigns them. */
  readonly addressPool?: readonly AddressRange[];
  readonly logLevel: LogLevel;
}

/** Audience of the tokens with which data planes authenticate. */
export const channelAudience = 'sallyport.dev/channel';

/** The Secret with the keys for session persistence. The Role of the controller names it. */
const sessionKeysSecret = 'sallyport-session-keys';

/**
 * Milliseconds between two readings of events on a replica that neither leads nor serves data planes. A term as leader and a data plane that
 * connects end it.
 */
const standbyPause = 1_000;

/** Kubelets take up to two minutes to update a mounted ConfigMap. */
const policy: RotationPolicy = { ...defaultRotationPolicy, propagation: 5 * 60_000 };

/**
 * Serves the Gateways of a cluster until `stop`: statuses, data planes, and their configuration.
 *
 * @returns a function that stops the controller
 * @throws UsageError if the settings are invalid
 */
export function startController(options: ControllerCommandOptions): Promise<{ stop(): Promise<void> }> {
  growBeforeCollecting();
  limitBufferPool();
  return startOrStop((running) => start(options, running));
}

interface Surroundings {
  readonly options: ControllerCommandOptions;
  readonly running: Shutdown;
  readonly client: ApiClient;
  readonly log: Logger;
  readonly metrics: Metrics;
}

async function start(options: ControllerCommandOptions, running: Shutdown): Promise<void> {
  const log = createLogger(options.logLevel);
  const metrics = createMetrics();
  metrics.observeProcess();
  const errors = new InternalErrors(log, metrics);
  returnMemory(running);
  const { readiness } = await openProbes(options.probePort, metrics, running);
  const client = createClient(await loadCredentials('default'));
  running.add(() => client.close());
  const surroundings: Surroundings = { options, running, client, log, metrics };

  const authorities = new PublishedAuthorities();
  const settings = await dataPlaneSettings(surroundings, authorities);
  const kernel = createEvaluation([configuration, infrastructure, selectorServices, statuses]);
  exposeEvaluation(metrics, kernel);
  // No writes before all objects are known: a part of them would produce wrong statuses and empty data planes.
  let mayWrite = (): boolean => false;
  let term: AbortSignal | undefined;
  const { namespace, identity, uid } = options;
  const replica = { namespace, name: identity, ...(uid !== undefined && { uid }), writer: clusterWriter(client) };
  const events = new EventRecorder({ client, clock: systemClock, log, controller: controllerName, instance: identity });
  running.add(() => events.stop());
  const evaluation = new EvaluationQueue(kernel);
  const controller = new Controller({
    evaluation,
    writer: clusterWriter(client, () => term),
    events,
    dataPlane: settings,
    controllerName,
    replica,
    mayWrite: () => mayWrite(),
    log,
    metrics,
  });
  await applyPolicySettings(surroundings, (writes) => {
    void evaluation.apply(writes, (delta) => controller.observe([], delta));
  });
  const isSynced = (): boolean => state.problems().length === 0;
  const isLeading = (): boolean => term?.aborted === false;
  const record = new BundleRecord({ namespace, writer: clusterWriter(client, () => term), isLeading, log });
  const bundles = new BundleWatch({ log, metrics, recorded: await record.read(), isSynced });
  const recordBundles = (): void => {
    if (isLeading() && isSynced()) void record.write(bundles.installed);
  };
  let isStandby = (): boolean => false;
  const pace = new ReadingPace(() => (isStandby() ? standbyPause : 0));
  const state = new ClusterState({
    evaluation,
    kinds: controllerKinds,
    controllerName,
    follow: followCluster(client, log, pace),
    onInstalled: (installed) => {
      bundles.update(installed);
      recordBundles();
    },
    onChange: (events, delta, arrived) => controller.observe(events, delta, arrived),
  });
  running.add(() => state.stop());
  followTraceSecret(surroundings, (secret) => controller.setTraceSecret(secret));
  const own = new OwnObjects({ client, log, namespace, onEvents: (events) => controller.observeOwn(events) });
  running.add(() => own.stop());
  running.add(() => controller.stop());
  readiness.require(() => state.problems());
  while ((state.problems().length > 0 || !own.settled) && !running.stopping) await delay(50);

  const election = lead(surroundings, authorities, (begun) => {
    term = begun;
    void pace.catchUp();
    controller.becomeLeader();
    record.begin();
    recordBundles();
  });
  mayWrite = () => election.isLeader() && authorities.certificates.length > 0;
  const certificates = await servingCertificate(surroundings);
  await followSessionKeys(surroundings, controller);
  const channel = await serveDataPlanes({
    client,
    certificates,
    audience: channelAudience,
    sourceOf: (gateway) => {
      void pace.catchUp();
      return controller.sourceOf(gateway);
    },
    log,
    port: options.port,
  });
  running.add(() => channel.close());
  isStandby = () => !election.isLeader() && channel.connections().authenticated === 0;
  running.add(() => election.stop());
  errors.survive(running);
  readiness.started();
  log.info({ port: channel.port, probePort: options.probePort }, 'controller started');
}

/** Evaluates the HostnamePolicies of the settings, so that statuses and data planes agree with the webhook. */
async function applyPolicySettings(
  { options: { settings: file }, running, log, metrics }: Surroundings,
  apply: (writes: readonly Write[]) => void,
): Promise<void> {
  if (file === undefined) return;
  const settings = await openOptionalSettings(file, { log, metrics });
  running.add(() => settings.close());
  followPolicySettings(settings, apply);
}

async function dataPlaneSettings(
  { options, client }: Surroundings,
  authorities: PublishedAuthorities,
): Promise<() => DataPlaneSettings> {
  const { namespace, service, port, identity, addressPool = [] } = options;
  const image = options.image ?? (await imageOfPod(client, { namespace, name: identity }));
  return () => ({
    image,
    controller: `${service}.${namespace}.svc:${port}`,
    audience: channelAudience,
    authority: joinPem(authorities.certificates),
    addressPool,
  });
}

/** Follows the Secret from which the keys for traces are derived. It exists only if somebody wants traces. */
function followTraceSecret(
  { options: { namespace }, running, client, log }: Surroundings,
  onSecret: (secret: string | undefined) => void,
): void {
  const store = new ClusterSecretStore({ client, log }, { namespace, name: traceSecretName });
  const read = async (): Promise<number> => {
    const secret = (await store.read())?.data['key'];
    const isShort = secret !== undefined && secret.length < shortestTraceSecret;
    if (isShort)
      log.warn(
        { secret: traceSecretName },
        `traces are ignored: the key has less than ${shortestTraceSecret} characters`,
      );
    onSecret(isShort ? undefined : secret);
    return Infinity;
  };
  const rounds = startRounds(read, {
    longest: 60 * 60_000,
    retry: 1_000,
    onError: (error) => log.warn({ secret: traceSecretName, problem: String(error) }, 'cannot read the key for traces'),
    wakeOn: [(listener) => store.onChange(listener)],
  });
  running.add(() => rounds.stop());
}

/** One replica holds the lease. It renews the authority and writes to the cluster. */
function lead(
  { options, client, log }: Surroundings,
  authorities: PublishedAuthorities,
  begin: (term: AbortSignal) => void,
): Election {
  const { namespace, secret, lease: name, identity } = options;
  const rotation = new AuthorityRotation({
    secrets: new ClusterSecretStore({ client, log }, { namespace, name: secret }),
    bundles: authorities,
    policy,
    log,
  });
  return new Election({
    client,
    clock: systemClock,
    log,
    namespace,
    name,
    identity,
    async lead(term) {
      const rounds = rotation.start();
      const forget = authorities.onChange(() => begin(term));
      begin(term);
      if (!term.aborted)
        await new Promise<void>((resolve) => term.addEventListener('abort', () => resolve(), { once: true }));
      forget();
      await rounds.stop();
    },
  });
}

/** Before data planes connect: without the keys, they would drop the sessions that they know. */
async function followSessionKeys(
  { options, running, client, log }: Surroundings,
  controller: Controller,
): Promise<void> {
  const where = { namespace: options.namespace, name: sessionKeysSecret };
  const keyring = new SessionKeyring({ secrets: new ClusterSecretStore({ client, log }, where), log });
  keyring.onKeys((keys) => controller.observeSessionKeys(keys));
  const rounds = keyring.start();
  running.add(() => rounds.stop());
  await keyring.attempted;
}

function servingCertificate({ options, running, client, log }: Surroundings) {
  const { namespace, service, secret } = options;
  const managed = new ManagedCertificate({
    secrets: new ClusterSecretStore({ client, log }, { namespace, name: secret }),
    names: serviceNames(service, namespace),
    policy,
    log,
  });
  const rounds = managed.start();
  running.add(() => rounds.stop());
  return managed.issued();
}
