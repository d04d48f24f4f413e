import { selectingLabel, selectingLabelValue } from '../core/graph/endpoints.ts';
import { ofQualifiedName, qualifiedName } from '../core/resources/reference.ts';
import type { SelectorService } from '../core/routing/selector-services.ts';
import { isRecord, listOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { sameFields } from './drift-detector.ts';
import { selectorServiceName } from './names.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';

export interface SelectorServicesOptions {
  readonly writer: Pick<ClusterWriter, 'read' | 'apply' | 'remove'>;
  /** The Service that an XBackend (`namespace/name`) needs; `undefined`: none. */
  readonly wanted: (backend: string) => SelectorService | undefined;
  /** The uid of an XBackend; `undefined` if it does not exist. */
  readonly uidOf: (backend: string) => string | undefined;
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds between two writes for an XBackend, and until a retry after a failure. */
  readonly pace?: { readonly rest: number; readonly retry: number };
}

const defaultPace = { rest: 1_000, retry: 10_000 };

/** Maximum number of XBackends processed at one time. */
const concurrency = 4;

const noServices: ReadonlyMap<string, WireObject> = new Map();

/**
 * Reconciles the headless Service of each XBackend of type EndpointSelector: Kubernetes then keeps EndpointSlices with the selected
 * pods (EndpointSelectorBackend). Each XBackend has at most one reconciliation at a time, which starts from the newest state.
 */
export class SelectorServices {
  readonly #options: SelectorServicesOptions;
  readonly #pace: NonNullable<SelectorServicesOptions['pace']>;
  /** XBackend → its Services as last seen, by name. */
  readonly #live = new Map<string, Map<string, WireObject>>();
  /** Service (`namespace/name`) → XBackend. */
  readonly #backends = new Map<string, string>();
  readonly #queue = new Set<string>();
  readonly #working = new Map<string, Promise<void>>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #writes: Family<Cell>;
  #isStopped = false;

  constructor(options: SelectorServicesOptions) {
    this.#options = options;
    this.#pace = options.pace ?? defaultPace;
    this.#writes = options.metrics.counter({
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
    const before = this.#backends.get(key);
    const now = event.type === 'upsert' ? backendOf(event.object) : undefined;
    if (before !== undefined && before !== now) this.#forget(before, name);
    if (now !== undefined && event.type === 'upsert') this.#remember(now, event.object);
    for (const backend of new Set([before, now])) if (backend !== undefined) this.enqueue(backend);
  }

  /** Call this when the needs of an XBackend (`namespace/name`) may have changed. */
  enqueue(backend: string): void {
    if (this.#isStopped) return;
    this.#queue.add(backend);
    this.#pump();
  }

  /** Reconciles all XBackends: those that need a Service, and those that have one. */
  enqueueAll(needing: Iterable<string>): void {
    for (const backend of [...needing, ...this.#live.keys()]) this.enqueue(backend);
  }

  /** Stops reconciling. Resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#queue.clear();
    await Promise.all(this.#working.values());
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #remember(backend: string, service: WireObject): void {
    const services = this.#live.get(backend) ?? new Map<string, WireObject>();
    this.#live.set(backend, services.set(service.metadata.name, service));
    const { namespace = '', name } = service.metadata;
    this.#backends.set(qualifiedName({ namespace, name }), backend);
  }

  #forget(backend: string, service: string): void {
    const services = this.#live.get(backend);
    services?.delete(service);
    if (services?.size === 0) this.#live.delete(backend);
    this.#backends.delete(qualifiedName({ namespace: ofQualifiedName(backend).namespace, name: service }));
  }

  #pump(): void {
    for (const backend of this.#queue) {
      if (this.#working.size >= concurrency) return;
      // An XBackend that rests after a write, or that is in work, is taken up again afterwards.
      if (this.#working.has(backend) || this.#timers.has(backend)) continue;
      this.#queue.delete(backend);
      this.#working.set(
        backend,
        this.#work(backend).finally(() => {
          this.#working.delete(backend);
          this.#pump();
        }),
      );
    }
  }

  async #work(backend: string): Promise<void> {
    const { wanted, uidOf, mayWrite } = this.#options;
    if (!mayWrite()) return;
    const [need, uid] = [wanted(backend), uidOf(backend)];
    const desired = need === undefined || uid === undefined ? undefined : serviceOf(backend, uid, need);
    const live = this.#live.get(backend) ?? noServices;
    const results: WriteResult[] = [];
    if (desired !== undefined && !isAsDesired(live.get(desired.metadata.name), desired)) {
      const result = await this.#apply(backend, desired, live.has(desired.metadata.name));
      if (result.type === 'ok' && result.object !== undefined) this.#remember(backend, result.object);
      results.push(result);
    }
    // The garbage collector removes Services together with their XBackend.
    if (uid !== undefined) results.push(...(await this.#removeOthers(live, desired?.metadata.name)));
    this.#record(backend, results);
  }

  /** Removes all Services of an XBackend except the one with this name. */
  async #removeOthers(
    live: ReadonlyMap<string, WireObject>,
    kept: string | undefined,
  ): Promise<readonly WriteResult[]> {
    const { writer, mayWrite } = this.#options;
    const results: WriteResult[] = [];
    for (const { metadata } of live.values()) {
      const { namespace = '', name, uid } = metadata;
      if (name === kept || metadata['deletionTimestamp'] !== undefined || !mayWrite()) continue;
      const identity = { namespace, name, ...(uid !== undefined && { uid }) };
      results.push(await writer.remove({ apiVersion: 'v1', kind: 'Service', metadata: identity }));
    }
    return results;
  }

  /** Applies a Service unless one of this name belongs to somebody else. */
  async #apply(backend: string, desired: WireObject, isOurs: boolean): Promise<WriteResult> {
    const { writer } = this.#options;
    const found = isOurs ? undefined : await writer.read(desired);
    if (found?.type === 'ok' && found.object !== undefined && backendOf(found.object) !== backend)
      return { type: 'invalid', message: 'a Service of this name belongs to somebody else' };
    return writer.apply(desired);
  }

  /** Logs failures, and delays the next write for this XBackend. */
  #record(backend: string, results: readonly WriteResult[]): void {
    if (results.length === 0 || this.#isStopped) return;
    for (const { type } of results) this.#writes.at(type).value += 1;
    const failed = results.find(({ type }) => type !== 'ok' && type !== 'notFound');
    if (failed !== undefined && failed.type !== 'ok')
      this.#options.log.warn(
        { xBackend: backend, outcome: failed.type, problem: failed.message },
        'cannot write the Service of an XBackend that selects endpoints',
      );
    const { rest, retry } = this.#pace;
    this.#timers.set(
      backend,
      setTimeout(
        () => {
          this.#timers.delete(backend);
          // Also after a success: the state may have changed in the meantime.
          this.enqueue(backend);
        },
        failed === undefined ? rest : retry,
      ),
    );
  }
}

/** The XBackend (`namespace/name`) whose Service this is. */
function backendOf({ metadata }: WireObject): string | undefined {
  if (metadata.labels?.[selectingLabel] === undefined) return undefined;
  const owner = listOf(metadata['ownerReferences'])
    .filter(isRecord)
    .find(({ kind }) => kind === 'XBackend');
  const name = owner?.['name'];
  return typeof name === 'string' ? qualifiedName({ namespace: metadata.namespace ?? '', name }) : undefined;
}

/** Only the selector has an effect. Kubernetes copies the label to the EndpointSlices. */
function serviceOf(backend: string, uid: string, { selector, port }: SelectorService): WireObject {
  const { namespace, name } = ofQualifiedName(backend);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      namespace,
      name: selectorServiceName(uid),
      labels: { [selectingLabel]: selectingLabelValue(name) },
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
  return live !== undefined && JSON.stringify(sameFields(fields, live)) === JSON.stringify(fields);
}
