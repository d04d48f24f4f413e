import type { ConfigurationSource } from '../channel/source.ts';
import { isOurGateway, listenersOf } from '../core/graph/gateway.ts';
import { readObject } from '../core/graph/inputs.ts';
import type { Delta, Kernel, Write } from '../core/incremental/index.ts';
import { configuration } from '../core/routing/emit.ts';
import { partProblems } from '../core/rules/validity.ts';
import { statuses } from '../core/status/emit.ts';
import type { Logger, Metrics } from '../telemetry/index.ts';
import { certificateChanges } from './certificates.ts';
import { addressesOfService, gatewayOfChild, hasReadyEndpoint, programmedGeneration } from './children.ts';
import { DataPlanes } from './data-planes.ts';
import { liveKey, LiveObjects } from './live-objects.ts';
import type { ConfigurationChange } from './per-gateway.ts';
import type { ClusterWriter, ObjectChange, WireObject } from './ports.ts';
import { dataPlaneName } from './names.ts';
import { managedBy, type DataPlaneSettings, type GatewayFacts } from './provision.ts';
import { Provisioner } from './provisioner.ts';
import { StatusWriter } from './status-writer.ts';

export interface ControllerOptions {
  /** Whoever applies writes to it, other than by this controller, tells by `take`. */
  readonly kernel: Kernel;
  readonly writer: ClusterWriter;
  readonly dataPlane: () => DataPlaneSettings;
  readonly controllerName: string;
  /** Whether all is known and this replica leads; asked before everything that is sent. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
}

const withStatus: ReadonlySet<string> = new Set(['GatewayClass', 'Gateway', 'HTTPRoute']);

/**
 * Turns what evaluation says into statuses, objects of data planes and their configuration. Level-based: events only
 * mark what may differ. All replicas compute and serve; the leader writes.
 */
export class Controller {
  readonly #kernel: Kernel;
  readonly #live = new LiveObjects();
  readonly #statuses: StatusWriter;
  readonly #provisioner: Provisioner;
  readonly #dataPlanes: DataPlanes;
  readonly #services = new Map<string, { readonly gateway: string; readonly object: WireObject }>();
  /** Services of data planes that somebody answered behind, once: a restart of data planes takes nothing back. */
  readonly #reachable = new Set<string>();

  constructor({ kernel, writer, dataPlane, controllerName, mayWrite, log, metrics }: ControllerOptions) {
    this.#kernel = kernel;
    this.#dataPlanes = new DataPlanes({ tell: (writes) => this.#apply(writes), programmed: (owner) => programmedGeneration(this.#live.get(owner)?.object) });
    const wanted = (key: string) => kernel.emitted(statuses).get(key);
    this.#statuses = new StatusWriter({ writer, live: this.#live, wanted, mayWrite, controllerName, log, metrics });
    this.#provisioner = new Provisioner({ writer, settings: dataPlane, factsOf: (namespace, name) => this.#factsOf(namespace, name), mayWrite, log, metrics });
  }

  /** What the cluster told, and what that changed in the evaluation. */
  take(events: readonly ObjectChange[], delta: Delta): void {
    for (const event of events) this.#note(event);
    this.#follow(delta, certificateChanges(events));
  }

  /** This replica leads now, or the settings of data planes have changed: everything is looked at. */
  lead(): void {
    this.#statuses.markAll();
    for (const key of this.#live.keys()) if (key.startsWith('Gateway/')) this.#provisioner.mark(gatewayName(key));
    for (const { gateway } of this.#services.values()) this.#provisioner.distrust(gateway);
  }

  /** The configuration of a Gateway (`namespace/name`) that is served here. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.#dataPlanes.sourceOf(gateway);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#statuses.stop(), this.#provisioner.stop()]);
  }

  #apply(writes: readonly Write[]): void {
    this.#follow(this.#kernel.apply(writes), certificateChanges([]));
  }

  #note(event: ObjectChange): void {
    const { ref } = event;
    if (ref.kind === 'Service') this.#noteService(event);
    else if (ref.kind === 'EndpointSlice') this.#noteSlice(event);
    if (!withStatus.has(ref.kind)) return;
    if (event.type === 'delete') this.#live.delete(liveKey(ref.kind, ref));
    else this.#statuses.mark(this.#live.set(ref.kind, event.object));
  }

  #noteService(event: ObjectChange): void {
    const key = `${event.ref.namespace}/${event.ref.name}`;
    const before = this.#services.get(key);
    const gateway = event.type === 'upsert' ? gatewayOfChild(event.object) : undefined;
    if (event.type === 'upsert' && gateway !== undefined) {
      this.#services.set(key, { gateway, object: event.object });
      this.#announce(key);
    } else if (before !== undefined) {
      this.#services.delete(key);
      this.#reachable.delete(key);
      this.#dataPlanes.setAddresses(before.gateway, []);
      // It may have been deleted by somebody who knows nothing of us.
      this.#provisioner.distrust(before.gateway);
    }
  }

  #noteSlice(event: ObjectChange): void {
    // The API server's own controller gives slices the labels of their Service.
    if (event.type === 'delete' || event.object.metadata.labels?.[managedBy.label] !== managedBy.value) return;
    const key = `${event.ref.namespace}/${event.object.metadata.labels['kubernetes.io/service-name'] ?? ''}`;
    if (this.#reachable.has(key) || !hasReadyEndpoint(event.object)) return;
    this.#reachable.add(key);
    this.#announce(key);
  }

  /** Tells the addresses of a Service's data planes from when on they answer there. */
  #announce(service: string): void {
    const known = this.#services.get(service);
    if (known !== undefined && this.#reachable.has(service)) this.#dataPlanes.setAddresses(known.gateway, addressesOfService(known.object));
  }

  #follow(delta: Delta, certificates: ConfigurationChange): void {
    const change = delta.of(statuses);
    const configured = delta.of(configuration);
    for (const key of change.upserted.keys()) {
      if (key.startsWith('Gateway/')) this.#serve(gatewayName(key));
      this.#statuses.mark(key);
    }
    // In one go: a listener that appears with its certificate shall never be without.
    this.#dataPlanes.publish({ upserted: new Map([...certificates.upserted, ...configured.upserted]), removed: new Set([...certificates.removed, ...configured.removed]) });
    for (const key of change.removed) {
      if (key.startsWith('Gateway/')) this.#abandon(gatewayName(key));
      this.#statuses.mark(key);
    }
  }

  #serve(gateway: string): void {
    this.#provisioner.mark(gateway);
    if (this.#dataPlanes.sourceOf(gateway) !== undefined) return;
    const [namespace = '', name = ''] = gateway.split('/');
    this.#dataPlanes.serve(gateway);
    const service = `${namespace}/${dataPlaneName(name)}`;
    if (programmedGeneration(this.#live.get(`Gateway/${gateway}`)?.object) !== undefined) this.#reachable.add(service);
    this.#announce(service);
  }

  #abandon(gateway: string): void {
    this.#dataPlanes.forget(gateway);
    this.#provisioner.mark(gateway);
  }

  #factsOf(namespace: string, name: string): GatewayFacts | undefined {
    const { read } = this.#kernel;
    const gateway = readObject(read, 'Gateway', namespace, name);
    const uid = this.#live.get(liveKey('Gateway', { namespace, name }))?.object.metadata.uid;
    if (gateway === undefined || uid === undefined || gateway.meta.deleting || !read.query(isOurGateway, namespace, name)) return undefined;
    const isRefused = read.query(partProblems, 'Gateway', namespace, name).some((problem) => problem.scope === 'object' && problem.condition === 'Accepted');
    if (isRefused) return undefined;
    // Those of listeners that are not valid at present, too: an address must not go while a certificate is exchanged.
    const ports = new Set(listenersOf(read, namespace, name).map(({ port }) => port).filter((port) => port >= 1 && port <= 65_535));
    const { labels, annotations } = gateway.spec?.infrastructure ?? {};
    return { namespace, name, uid, ports: [...ports].sort((one, other) => one - other), labels: labels ?? {}, annotations: annotations ?? {} };
  }
}

/** `Gateway/namespace/name` → `namespace/name`. */
function gatewayName(key: string): string {
  return key.slice('Gateway/'.length);
}
