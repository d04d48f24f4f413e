import { selectingLabel, selectingLabelValue, selectingUidLabel } from '../core/graph/backends/endpoints.ts';
import { ofQualifiedName, qualifiedName } from '../core/resources/reference.ts';
import type { SelectorService } from '../core/routing/selector-services.ts';
import { sameJson } from '../core/text/compare-json.ts';
import { recordsOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { sameFields } from './drift-detector.ts';
import { selectorServiceName } from './names.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';
import { WorkQueue } from './work-queue.ts';

export interface SelectorServicesOptions {
  readonly writer: Pick<ClusterWriter, 'read' | 'apply' | 'remove'>;
  /** The Service that an XBackend (`namespace/name`) needs; `undefined`: none. */
  readonly wanted: (backend: string) => SelectorService | undefined;
  /** The uid of an XBackend; `undefined` if it does not exist. */
  readonly uidOf: (backend: string) => string | undefined;
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  /** Called with the message of the API server when it rejects a write for an XBackend. */
  readonly onRejected: (backend: string, message: string) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly pace?: Pace;
}

/** Times in milliseconds. */
interface Pace {
  /** Between two writes for an XBackend. */
  readonly rest: number;
  /** Until the first retry after a failure. */
  readonly retry: number;
  /** Until a Service is removed that nothing uses any more. Kubernetes needs some seconds to select its endpoints again. */
  readonly keep: number;
}

const defaultPace: Pace = { rest: 1_000, retry: 10_000, keep: 60_000 };

/** The longest delay of a retry, as a multiple of the first one. */
const maxRetryFactor = 32;

/** A Service as written: the fields that we set, and the version that resulted. */
interface Applied {
  readonly fields: string;
  readonly version: string | undefined;
}

/** Maximum number of XBackends processed at one time. */
const concurrency = 4;
/** Maximum number of Services removed at one time for an XBackend: whoever creates Services may name it as the owner of any number. */
const removals = 8;

/**
 * Reconciles the headless Service of each XBackend of type EndpointSelector: Kubernetes then keeps EndpointSlices with the selected
 * pods (EndpointSelectorBackend). Each XBackend has at most one reconciliation at a time, which starts from the newest state, and
 * namespaces take turns.
 */
export class SelectorServices {
  private readonly options: SelectorServicesOptions;
  private readonly pace: Pace;
  /** XBackend → its Services as last seen, by name. */
  private readonly live = new Map<string, Map<string, WireObject>>();
  /** Service (`namespace/name`) → XBackend. */
  private readonly backends = new Map<string, string>();
  /** The reconciliation of an XBackend is done after its rest. */
  private readonly queue = new WorkQueue((backend) => ofQualifiedName(backend).namespace);
  private readonly working = new Map<string, Promise<void>>();
  /** XBackends that rest after a write. */
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** XBackends whose last write failed: the number of failures in a row, and the next retry. */
  private readonly retries = new Map<string, { readonly failures: number; readonly timer: NodeJS.Timeout }>();
  /** XBackends that nothing uses any more, but whose Services stay for a while; `undefined`: the time is over. */
  private readonly kept = new Map<string, NodeJS.Timeout | undefined>();
  /** XBackend → its Service as written last. */
  private readonly applied = new Map<string, Applied>();
  private readonly writes: Family<Cell>;
  private isStopped = false;

  constructor(options: SelectorServicesOptions) {
    this.options = options;
    this.pace = options.pace ?? defaultPace;
    this.writes = options.metrics.counter({
      name: 'selector_service_writes_total',
      help: 'Writes of Services of XBackends that select endpoints, by result.',
      labels: ['result'],
    });
  }

  /** Takes an event about a Service or XBackend. Ignores other kinds, and Services of others. */
  observe(event: ObjectChange): void {
    const { kind, namespace, name } = event.ref;
    const key = qualifiedName({ namespace, name });
    if (kind === 'XBackend') this.enqueue(key);
    if (kind !== 'Service') return;
    const before = this.backends.get(key);
    const now = event.type === 'upsert' ? backendOf(event.object) : undefined;
    if (before !== undefined && before !== now) this.forget(before, name);
    if (now !== undefined && event.type === 'upsert') this.remember(now, event.object);
    for (const backend of new Set([before, now])) if (backend !== undefined) this.enqueue(backend);
  }

  /** Call this when the needs of an XBackend (`namespace/name`) may have changed. */
  enqueue(backend: string): void {
    if (this.isStopped) return;
    this.queue.add(backend);
    this.pump();
  }

  /** Reconciles all XBackends: those that need a Service, and those that have one. */
  enqueueAll(needing: Iterable<string>): void {
    for (const backend of [...needing, ...this.live.keys()]) this.enqueue(backend);
  }

  /** Stops reconciling. Resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.isStopped = true;
    this.queue.clear();
    await Promise.all(this.working.values());
    for (const timer of this.timers.values()) clearTimeout(timer);
    for (const { timer } of this.retries.values()) clearTimeout(timer);
    for (const timer of this.kept.values()) clearTimeout(timer);
  }

  private remember(backend: string, service: WireObject): void {
    const services = this.live.get(backend) ?? new Map<string, WireObject>();
    this.live.set(backend, services.set(service.metadata.name, service));
    const { namespace = '', name } = service.metadata;
    this.backends.set(qualifiedName({ namespace, name }), backend);
  }

  private forget(backend: string, service: string): void {
    const services = this.live.get(backend);
    services?.delete(service);
    if (services?.size === 0) this.live.delete(backend);
    this.backends.delete(qualifiedName({ namespace: ofQualifiedName(backend).namespace, name: service }));
  }

  private pump(): void {
    while (this.working.size < concurrency) {
      const backend = this.queue.take();
      if (backend === undefined) return;
      this.working.set(
        backend,
        Promise.resolve()
          .then(() => this.work(backend))
          .catch((error: unknown) => {
            this.options.log.error({ err: error, xBackend: backend }, 'cannot reconcile the Service of an XBackend');
            this.retryLater(backend);
          })
          .finally(() => {
            this.working.delete(backend);
            if (!this.timers.has(backend)) this.queue.done(backend);
            this.pump();
          }),
      );
    }
  }

  private async work(backend: string): Promise<void> {
    const { wanted, uidOf, mayWrite } = this.options;
    if (!mayWrite()) return;
    const [need, uid] = [wanted(backend), uidOf(backend)];
    const desired = need === undefined || uid === undefined ? undefined : serviceOf(backend, uid, need);
    const results: WriteResult[] = [];
    if (desired === undefined) this.applied.delete(backend);
    else this.release(backend);
    if (desired !== undefined && !this.isReached(backend, desired)) {
      const result = await this.apply(backend, desired);
      if (result.type === 'ok') {
        const version = result.object?.metadata.resourceVersion;
        this.applied.set(backend, { fields: JSON.stringify(desired), version });
      }
      results.push(result);
    }
    // The garbage collector removes Services together with their XBackend.
    if (uid === undefined) this.release(backend);
    else if (desired !== undefined || this.isOver(backend))
      results.push(...(await this.removeOthers(backend, desired?.metadata.name)));
    this.record(backend, results);
  }

  /** Whether the Service is as desired, or as far as server-side apply makes it so: it keeps ports and owners that others add. */
  private isReached(backend: string, desired: WireObject): boolean {
    const live = this.live.get(backend)?.get(desired.metadata.name);
    if (live === undefined) return false;
    if (isAsDesired(live, desired)) return true;
    const applied = this.applied.get(backend);
    const { resourceVersion } = live.metadata;
    return (
      resourceVersion !== undefined &&
      applied?.version === resourceVersion &&
      applied.fields === JSON.stringify(desired)
    );
  }

  /** Whether Services of an XBackend have stayed long enough without a use. Begins to count at the first call. */
  private isOver(backend: string): boolean {
    if (!this.live.has(backend)) {
      this.release(backend);
      return false;
    }
    if (this.kept.has(backend)) return this.kept.get(backend) === undefined;
    const timer = setTimeout(() => {
      this.kept.set(backend, undefined);
      this.enqueue(backend);
    }, this.pace.keep);
    this.kept.set(backend, timer);
    return false;
  }

  private release(backend: string): void {
    clearTimeout(this.kept.get(backend));
    this.kept.delete(backend);
  }

  /** Removes the Services of an XBackend except the one with this name, a few at one time. */
  private async removeOthers(backend: string, kept: string | undefined): Promise<readonly WriteResult[]> {
    const { writer, mayWrite } = this.options;
    const results: WriteResult[] = [];
    for (const { metadata } of this.live.get(backend)?.values() ?? []) {
      const { namespace = '', name, uid } = metadata;
      if (name === kept || metadata['deletionTimestamp'] !== undefined || !mayWrite()) continue;
      if (results.length === removals) {
        this.queue.add(backend);
        break;
      }
      const identity = { namespace, name, ...(uid !== undefined && { uid }) };
      const result = await writer.remove({ apiVersion: 'v1', kind: 'Service', metadata: identity });
      // The event of its deletion may have been lost with a watch.
      if (result.type === 'notFound') this.forget(backend, name);
      results.push(result);
    }
    return results;
  }

  /** Applies a Service unless there is one of this name that does not belong to the XBackend. */
  private async apply(backend: string, desired: WireObject): Promise<WriteResult> {
    const { writer } = this.options;
    if (this.live.get(backend)?.has(desired.metadata.name) === true) return writer.apply(desired);
    const found = await writer.read(desired);
    if (found.type !== 'ok') return found.type === 'notFound' ? writer.apply(desired) : found;
    if (found.object === undefined || backendOf(found.object) === backend) return writer.apply(desired);
    const { namespace = '', name } = desired.metadata;
    const message = `Service "${namespace}/${name}" exists, and the XBackend does not own it. Delete the Service.`;
    return { type: 'invalid', message };
  }

  /** Logs failures, and delays the next write for this XBackend. */
  private record(backend: string, results: readonly WriteResult[]): void {
    const failed = results.filter((result) => result.type !== 'ok').find(({ type }) => type !== 'notFound');
    if (failed === undefined) this.forgetFailures(backend);
    if (results.length === 0 || this.isStopped) return;
    for (const { type } of results) this.writes.at(type).value += 1;
    const rested = setTimeout(() => {
      this.timers.delete(backend);
      this.queue.done(backend);
      this.pump();
    }, this.pace.rest);
    this.timers.set(backend, rested);
    // Failures after the end of the term are writes that it called off. The next term examines everything.
    if (failed === undefined || !this.options.mayWrite()) return;
    this.report(backend, failed);
    this.retryLater(backend);
  }

  private forgetFailures(backend: string): void {
    clearTimeout(this.retries.get(backend)?.timer);
    this.retries.delete(backend);
  }

  /** After a failure, there is a retry unless something changes before. */
  private retryLater(backend: string): void {
    const { failures = 0 } = this.retries.get(backend) ?? {};
    this.forgetFailures(backend);
    if (this.isStopped) return;
    const delay = this.pace.retry * Math.min(2 ** failures, maxRetryFactor);
    const timer = setTimeout(() => this.enqueue(backend), delay);
    this.retries.set(backend, { failures: failures + 1, timer });
  }

  private report(backend: string, { type, message }: Exclude<WriteResult, { readonly type: 'ok' }>): void {
    const { log, onRejected } = this.options;
    log.warn(
      { xBackend: backend, outcome: type, problem: message },
      'cannot write the Service of an XBackend that selects endpoints',
    );
    if (type === 'forbidden' || type === 'invalid') onRejected(backend, message);
  }
}

/**
 * The XBackend (`namespace/name`) whose Service this is: the owner that its name is derived from. Labels and owners are not enough,
 * because others can set them, too.
 */
function backendOf({ metadata }: WireObject): string | undefined {
  for (const { kind, name, uid } of recordsOf(metadata['ownerReferences']))
    if (kind === 'XBackend' && typeof name === 'string' && typeof uid === 'string')
      if (metadata.name === selectorServiceName(uid))
        return qualifiedName({ namespace: metadata.namespace ?? '', name });
  return undefined;
}

/** Only the selector has an effect. Kubernetes copies the labels to the EndpointSlices. */
function serviceOf(backend: string, uid: string, { selector, port }: SelectorService): WireObject {
  const { namespace, name } = ofQualifiedName(backend);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace,
      name: selectorServiceName(uid),
      labels: { [selectingLabel]: selectingLabelValue(name), [selectingUidLabel]: uid },
      ownerReferences: [{ apiVersion: 'gateway.networking.x-k8s.io/v1alpha1', kind: 'XBackend', name, uid }],
    },
    spec: {
      clusterIP: 'None',
      selector,
      // UDPRoutes can refer to an XBackend, too.
      ports: ['TCP', 'UDP'].map((protocol) => ({ name: protocol.toLowerCase(), port, targetPort: port, protocol })),
    },
  };
}

function isAsDesired(live: WireObject | undefined, desired: WireObject): boolean {
  const { apiVersion: _apiVersion, kind: _kind, ...fields } = desired;
  return live !== undefined && sameJson(sameFields(fields, live), fields);
}
