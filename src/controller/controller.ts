import { argsOfName, ofQualifiedName, qualifiedName } from '../core/resources/reference.ts';
import type { SessionKeysResource } from '../channel/messages.ts';
import type { ConfigurationSource } from '../channel/source.ts';
import { scopeOf } from '../core/graph/listeners/addresses.ts';
import { isOfOurClass } from '../core/graph/listeners/gateway.ts';
import { dataPlaneCell, readObject } from '../core/graph/inputs.ts';
import { write, type Delta, type Kernel } from '../core/incremental/index.ts';
import { configuration } from '../core/routing/emit.ts';
import { infrastructure } from '../core/routing/infrastructure.ts';
import { ownerRefusal, partProblems } from '../core/rules/engine/validity.ts';
import { selectorServices } from '../core/routing/selector-services.ts';
import { statuses } from '../core/status/emit.ts';
import type { Logger, Metrics } from '../telemetry/index.ts';
import type { EvaluationQueue } from '../time/evaluation-queue.ts';
import { readReport, AcknowledgementReporter, reportName, type Replica } from './acknowledgement-reporter.ts';
import { AddressPool, type AddressRequest } from './address-pool.ts';
import { certificateChanges } from './certificate-changes.ts';
import { observeChanges } from './change-latency.ts';
import type { ConfigurationChange } from './configuration-by-gateway.ts';
import { heapOfWorker, type DataPlaneSettings } from './data-plane-manifests.ts';
import { programmedGeneration } from './data-plane-objects.ts';
import { describeDataPlanes } from './data-plane-problems.ts';
import { DataPlaneProvisioner, type Need } from './data-plane-provisioner.ts';
import { DataPlaneServices } from './data-plane-services.ts';
import { DataPlaneWorkloads } from './data-plane-workloads.ts';
import { DataPlanes } from './data-planes.ts';
import { GatewayClassFinalizers } from './gateway-class-finalizers.ts';
import { LatestFacts } from './latest-facts.ts';
import { liveKey, LiveObjects } from './live-objects.ts';
import type { ClusterWriter, EventNote, EventSink, ObjectChange, WireObject } from './ports.ts';
import { SelectorServices } from './selector-services.ts';
import { sessionKeysChange } from './session-keys.ts';
import { regarding } from './status-events.ts';
import { StatusWriter, type Pace } from './status-writer.ts';

export interface ControllerOptions {
  /** The evaluation. Changes from writes that come from elsewhere must be passed to `observe`. */
  readonly evaluation: EvaluationQueue;
  readonly writer: ClusterWriter;
  readonly events: EventSink;
  readonly dataPlane: () => DataPlaneSettings;
  readonly controllerName: string;
  /** This replica, and a writer that works even when the replica is not the leader. */
  readonly replica: Replica & { readonly writer: Pick<ClusterWriter, 'apply'> };
  /** Whether all objects are known and this replica leads. Checked before each write. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Overrides of the pace of status writes. */
  readonly pace?: Partial<Pace>;
}

const withStatus: ReadonlySet<string> = new Set(statuses.over.populations);

/**
 * Reconciles statuses, objects of data planes and their configuration with the result of the evaluation. Level-based: events only
 * mark what may differ. All replicas compute and serve configuration. Only the leader writes.
 */
export class Controller {
  private readonly kernel: Kernel;
  /** About data planes. */
  private readonly facts: LatestFacts;
  private readonly live = new LiveObjects();
  private readonly statuses: StatusWriter;
  private readonly provisioner: DataPlaneProvisioner;
  private readonly dataPlanes: DataPlanes;
  private readonly services: DataPlaneServices;
  private readonly reporter: AcknowledgementReporter;
  private readonly workloads: DataPlaneWorkloads;
  private readonly pool: AddressPool;
  private readonly finalizers: GatewayClassFinalizers;
  private readonly selectors: SelectorServices;
  private readonly events: EventSink;
  /** The name of this replica's own report, which is not about data planes of others. */
  private readonly ownReport: string;

  constructor({
    evaluation,
    writer,
    events,
    dataPlane,
    controllerName,
    replica,
    mayWrite,
    log,
    metrics,
    pace = {},
  }: ControllerOptions) {
    const { kernel } = evaluation;
    this.kernel = kernel;
    this.facts = new LatestFacts(evaluation, (delta) => this.follow(delta, certificateChanges([])));
    this.events = events;
    this.ownReport = reportName(replica);
    this.dataPlanes = new DataPlanes({
      tell: (writes) => this.facts.write(writes),
      programmed: (owner) => programmedGeneration(this.live.get(owner)?.object),
      changes: observeChanges(metrics),
      onReport: () => this.reporter.enqueue(),
      onStateChange: (gateway) => this.describe(gateway),
      heapOf: (gateway) => heapOfWorker(kernel.emitted(infrastructure).get(gateway)?.parameters ?? {}),
      onWithheld: (gateway, remark) =>
        remark === ''
          ? log.info({ gateway }, 'the configuration of a Gateway fits again')
          : log.warn({ gateway, remark }, 'the configuration of a Gateway exceeds its limits'),
    });
    evaluation.prepare = (delta) => this.dataPlanes.prepare(delta.of(configuration).upserted);
    this.reporter = new AcknowledgementReporter({
      replica,
      report: () => this.dataPlanes.report(),
      writer: replica.writer,
      log,
      metrics,
    });
    this.services = new DataPlaneServices({
      onReachability: (gateway, reach) => {
        this.dataPlanes.setReachability(gateway, reach);
        this.describe(gateway);
      },
    });
    const wanted = (key: string) => kernel.emitted(statuses).get(key);
    this.statuses = new StatusWriter({
      writer,
      live: this.live,
      wanted,
      mayWrite,
      controllerName,
      events,
      log,
      metrics,
      pace,
    });
    const describe = (gateway: string): void => this.describe(gateway);
    this.provisioner = new DataPlaneProvisioner({
      writer,
      settings: dataPlane,
      needOf: (namespace, name) => this.needOf(namespace, name),
      readable: () => evaluation.readable,
      servicesOf: (gateway) => this.services.servicesOf(gateway),
      mayWrite,
      onProblem: describe,
      onDrift: (gateway, object) => this.recordDrift(gateway, object),
      log,
      metrics,
    });
    this.workloads = new DataPlaneWorkloads({ onChange: describe });
    this.pool = new AddressPool({
      ranges: dataPlane().addressPool ?? [],
      writer,
      requestOf: (gateway) => this.requestOf(gateway),
      mayWrite,
      onProblem: describe,
      log,
      metrics,
    });
    this.finalizers = new GatewayClassFinalizers({ writer, controllerName, mayWrite, log });
    this.selectors = new SelectorServices({
      writer,
      wanted: (backend) => kernel.emitted(selectorServices).get(backend),
      uidOf: (backend) => this.live.get(`XBackend/${backend}`)?.object.metadata.uid,
      mayWrite,
      onRejected: (backend, message) =>
        this.warn(`XBackend/${backend}`, {
          reason: 'ServiceNotWritten',
          action: 'Reconcile',
          note: `Cannot write the Service that selects the pods: ${message}`,
        }),
      log,
      metrics,
    });
    metrics.observed({ name: 'controller_leader', help: 'Whether this replica is the leader.', labels: [] }, () => [
      { labels: [], value: Number(mayWrite()) },
    ]);
    metrics.observed({ name: 'controller_gateways', help: 'Gateways that this controller serves.', labels: [] }, () => [
      { labels: [], value: this.dataPlanes.tally().gateways },
    ]);
    metrics.observed(
      {
        name: 'controller_data_planes',
        help: 'Data plane pods that are connected to this replica, ready for traffic, late to acknowledge, or too old for the configuration.',
        labels: ['state'],
      },
      () => {
        const { connected, ready, late, outdated } = this.dataPlanes.tally();
        return Object.entries({ connected, ready, late, outdated }).map(([state, value]) => ({
          labels: [state],
          value,
        }));
      },
    );
    metrics.observed(
      {
        name: 'controller_configuration_withheld',
        help: 'Resources that are not served because the configuration of their Gateway exceeds its limits.',
        labels: ['gateway'],
      },
      () => Array.from(this.dataPlanes.withheld(), ([gateway, value]) => ({ labels: [gateway], value })),
    );
  }

  /** Takes events of the cluster, and the changes of the evaluation that they caused. */
  observe(events: readonly ObjectChange[], delta: Delta, arrived?: number): void {
    const seen = events.flatMap((event) => this.note(event));
    this.services.observe(events);
    this.follow(delta, certificateChanges(events), arrived);
    for (const key of seen) this.statuses.enqueue(key);
    for (const event of events) this.selectors.observe(event);
    // The evaluation reports no change for a Gateway that is not reconciled and then stops being ours.
    for (const gateway of this.concernedBy(events)) this.review(gateway);
    this.pool.observe(events);
  }

  /** Takes the keys for session persistence, which data planes get if a route of their Gateway uses it. */
  observeSessionKeys(keys: SessionKeysResource['keys']): void {
    this.dataPlanes.publish(sessionKeysChange(keys));
  }

  /** Takes events about objects that replicas or data planes created (`ownObjectSelectors`). */
  observeOwn(events: readonly ObjectChange[]): void {
    for (const event of events) {
      const { kind, name } = event.ref;
      this.provisioner.observe(event);
      if (kind === 'ConfigMap' && name === this.ownReport) this.reporter.observe(event);
      else if (kind === 'ConfigMap')
        this.dataPlanes.observeReport(name, event.type === 'upsert' ? readReport(event.object) : undefined);
    }
    this.workloads.observe(events);
  }

  /** Reconciles everything, after this replica has become leader or the settings of data planes have changed. */
  becomeLeader(): void {
    // This goes first, so that everything that follows is queued behind it and finds nothing left to do.
    for (const gateway of new Set(this.services.gateways())) this.provisioner.recheck(gateway);
    this.dataPlanes.settle();
    this.pool.becomeLeader();
    this.statuses.enqueueAll();
    for (const gateway of this.gateways()) this.provisioner.enqueue(gateway);
    this.finalizers.enqueueAll();
    this.selectors.enqueueAll(this.kernel.emitted(selectorServices).keys());
  }

  /** The configuration of a Gateway (`namespace/name`). `undefined` if this controller does not serve it. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.dataPlanes.sourceOf(gateway);
  }

  /** Lets data planes answer traces that are signed with keys from this text; `undefined`: they ignore traces. */
  setTraceSecret(secret: string | undefined): void {
    this.dataPlanes.setTraceSecret(secret);
  }

  async stop(): Promise<void> {
    this.dataPlanes.stop();
    this.finalizers.stop();
    const parts = [this.statuses, this.provisioner, this.selectors, this.pool, this.reporter];
    await Promise.all(parts.map((part) => part.stop()));
  }

  /** Records an event. Returns the keys of the objects whose status it may change. */
  private note(event: ObjectChange): readonly string[] {
    const { ref } = event;
    this.provisioner.observe(event);
    this.finalizers.observe(event);
    if (!withStatus.has(ref.kind)) return [];
    if (event.type === 'upsert') return [this.live.set(ref.kind, event.object)];
    this.live.delete(liveKey(ref.kind, ref));
    return [];
  }

  private gateways(): readonly string[] {
    return [...this.live.keys()].filter((key) => key.startsWith('Gateway/')).map(gatewayName);
  }

  private concernedBy(events: readonly ObjectChange[]): ReadonlySet<string> {
    return new Set(
      events.flatMap(({ ref }) => {
        if (ref.kind === 'GatewayClass') return [...this.finalizers.gatewaysOf(ref.name)];
        return ref.kind === 'Gateway' ? [qualifiedName(ref)] : [];
      }),
    );
  }

  private follow(delta: Delta, certificates: ConfigurationChange, arrived?: number): void {
    const change = delta.of(statuses);
    const configured = delta.of(configuration);
    const selecting = delta.of(selectorServices);
    for (const backend of [...selecting.upserted.keys(), ...selecting.removed]) this.selectors.enqueue(backend);
    for (const gateway of delta.of(infrastructure).upserted.keys()) {
      this.enqueue(gateway);
      this.dataPlanes.resize(gateway);
    }
    for (const key of change.upserted.keys()) if (key.startsWith('Gateway/')) this.serve(gatewayName(key));
    // A Gateway that is not reconciled has listeners, but no status.
    for (const resource of configured.upserted.values())
      if (resource.kind === 'listener' && this.dataPlanes.sourceOf(resource.gateway) === undefined)
        this.serve(resource.gateway);
    // One publication, so that a new listener never appears without its certificate.
    const all = {
      upserted: new Map([...certificates.upserted, ...configured.upserted]),
      removed: new Set([...certificates.removed, ...configured.removed]),
    };
    this.dataPlanes.publish(all, arrived);
    for (const key of change.removed) if (key.startsWith('Gateway/')) this.review(gatewayName(key));
    // Statuses go last: they are less urgent than traffic.
    for (const key of [...change.upserted.keys(), ...change.removed]) this.statuses.enqueue(key);
  }

  /** Call this when the requirements of a Gateway may have changed. */
  private enqueue(gateway: string): void {
    this.provisioner.enqueue(gateway);
    this.pool.enqueue(gateway);
  }

  private serve(gateway: string): void {
    this.enqueue(gateway);
    if (this.dataPlanes.sourceOf(gateway) !== undefined) return;
    this.dataPlanes.serve(gateway);
    if (programmedGeneration(this.live.get(`Gateway/${gateway}`)?.object) !== undefined)
      this.services.assumeReachable(gateway);
    this.workloads.follow(gateway);
    this.services.repeat(gateway);
    this.describe(gateway);
  }

  /** Releases Gateways that are no longer ours. Data planes of a Gateway that is not reconciled stay connected. */
  private review(gateway: string): void {
    const { namespace, name } = ofQualifiedName(gateway);
    if (this.dataPlanes.sourceOf(gateway) !== undefined && !this.isOfOurClass(namespace, name)) this.abandon(gateway);
    else this.enqueue(gateway);
  }

  private abandon(gateway: string): void {
    this.dataPlanes.forget(gateway);
    this.enqueue(gateway);
    this.workloads.forget(gateway);
    this.services.forget(gateway);
    this.facts.write([write(dataPlaneCell, argsOfName(gateway), undefined)]);
  }

  /** Writes the state of the data planes of a served Gateway to the evaluation. */
  private describe(gateway: string): void {
    if (this.dataPlanes.sourceOf(gateway) === undefined) return;
    const inTheWay = this.provisioner.problemOf(gateway);
    const problems = [...(inTheWay === undefined ? [] : [inTheWay]), ...this.workloads.problemsOf(gateway)];
    const facts = describeDataPlanes(problems, this.dataPlanes.stateOf(gateway), this.pool.problemOf(gateway));
    this.facts.write([write(dataPlaneCell, argsOfName(gateway), facts)]);
  }

  /** Records an event for the person whose change was undone. */
  private recordDrift(gateway: string, { kind = '', metadata }: WireObject): void {
    const note = `${kind} "${metadata.namespace ?? ''}/${metadata.name}" was changed or deleted. The controller restores it.`;
    this.warn(`Gateway/${gateway}`, { reason: 'DataPlaneChanged', action: 'Provision', note });
  }

  /** Records a Warning about a live object. */
  private warn(key: string, event: Pick<EventNote, 'reason' | 'action' | 'note'>): void {
    const live = this.live.get(key);
    if (live !== undefined)
      this.events.record({ regarding: regarding(live.kind, live.object), type: 'Warning', ...event });
  }

  /** Whether the Gateway exists and its class names our controllerName, accepted or not. */
  private isOfOurClass(namespace: string, name: string): boolean {
    return this.kernel.read.query(isOfOurClass, namespace, name);
  }

  /** If a Gateway or its class is invalid, its objects stay as they are: a mistake must not cost a Gateway its address. */
  private needOf(namespace: string, name: string): Need {
    const { read } = this.kernel;
    const gateway = readObject(read, 'Gateway', namespace, name);
    const uid = this.live.get(liveKey('Gateway', { namespace, name }))?.object.metadata.uid;
    if (gateway === undefined || uid === undefined || gateway.meta.deleting || !this.isOfOurClass(namespace, name))
      return 'none';
    // This includes ports of listeners that are invalid at present: an address must not go away while a certificate is replaced.
    const wanted = this.kernel.emitted(infrastructure).get(qualifiedName({ namespace, name }));
    if (wanted === undefined || ownerRefusal(read.query(partProblems, 'Gateway', namespace, name)) !== undefined)
      return 'unchanged';
    return { namespace, name, uid, ...wanted };
  }

  private requestOf(gateway: string): AddressRequest {
    const { namespace, name } = ofQualifiedName(gateway);
    const need = this.needOf(namespace, name);
    const since = readObject(this.kernel.read, 'Gateway', namespace, name)?.meta.created ?? '';
    if (typeof need === 'string') return { since, addresses: 'unchanged' };
    return { since, addresses: need.addresses.filter((address) => scopeOf(address) === 'Default') };
  }
}

/** `Gateway/namespace/name` → `namespace/name`. */
function gatewayName(key: string): string {
  return key.slice('Gateway/'.length);
}
