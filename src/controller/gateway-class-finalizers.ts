import { listOf, recordOf } from '../core/text/record.ts';
import type { Logger } from '../telemetry/index.ts';
import type { ClusterWriter, ObjectChange, WireMetadata, WireObject, WriteResult } from './ports.ts';
import { qualifiedName } from '../core/resources/reference.ts';
import { isNewer } from '../core/text/resource-version.ts';

/** Prevents deletion of a GatewayClass while Gateways use it (GatewayClassFinalizerGatewaysExist). */
export const classFinalizer = 'gateway-exists-finalizer.gateway.networking.k8s.io';

export interface GatewayClassFinalizersOptions {
  readonly writer: Pick<ClusterWriter, 'setFinalizers'>;
  readonly controllerName: string;
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
  /** Milliseconds until a retry after a failure. */
  readonly retry?: number;
}

const nobody: ReadonlySet<string> = new Set();

/** Maximum number of writes in flight: they share the connections with the writes of statuses and the renewal of the lease. */
const concurrency = 4;

/** Adds a finalizer to our GatewayClasses while a Gateway names them, and removes it with the last Gateway. */
export class GatewayClassFinalizers {
  private readonly options: GatewayClassFinalizersOptions;
  /** Our GatewayClasses as last seen. */
  private readonly classes = new Map<string, WireMetadata>();
  /** Class → Gateways (`namespace/name`). */
  private readonly users = new Map<string, Set<string>>();
  private readonly classOf = new Map<string, string>();
  /** Classes that may need a write. */
  private readonly waiting = new Set<string>();
  private readonly working = new Set<string>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(options: GatewayClassFinalizersOptions) {
    this.options = options;
  }

  /** Takes an event about a GatewayClass or a Gateway. Ignores other kinds. */
  observe(event: ObjectChange): void {
    const object = event.type === 'upsert' ? event.object : undefined;
    if (event.ref.kind === 'GatewayClass') this.observeClass(event.ref.name, object);
    else if (event.ref.kind === 'Gateway') this.observeGateway(qualifiedName(event.ref), object);
  }

  /** The Gateways (`namespace/name`) that name a class. */
  gatewaysOf(name: string): ReadonlySet<string> {
    return this.users.get(name) ?? nobody;
  }

  /** Checks all classes, at the start of a term as leader. */
  enqueueAll(): void {
    for (const name of this.classes.keys()) this.enqueue(name);
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.waiting.clear();
    this.classes.clear();
  }

  private observeClass(name: string, object: WireObject | undefined): void {
    const isOurs = recordOf(object?.['spec'])['controllerName'] === this.options.controllerName;
    if (object !== undefined && isOurs) {
      this.classes.set(name, object.metadata);
      this.enqueue(name);
      return;
    }
    this.classes.delete(name);
    clearTimeout(this.timers.get(name));
    this.timers.delete(name);
  }

  private observeGateway(gateway: string, object: WireObject | undefined): void {
    const before = this.classOf.get(gateway);
    const named = recordOf(object?.['spec'])['gatewayClassName'];
    const now = typeof named === 'string' ? named : undefined;
    if (before === now) return;
    if (now === undefined) this.classOf.delete(gateway);
    else this.classOf.set(gateway, now);
    for (const name of [before, now]) {
      if (name === undefined) continue;
      const users = this.users.get(name) ?? new Set<string>();
      if (name === now) users.add(gateway);
      else users.delete(gateway);
      if (users.size > 0) this.users.set(name, users);
      else this.users.delete(name);
      this.enqueue(name);
    }
  }

  private enqueue(name: string): void {
    this.waiting.add(name);
    this.pump();
  }

  private pump(): void {
    for (const name of this.waiting) {
      if (this.working.size >= concurrency) return;
      this.waiting.delete(name);
      this.reconcile(name);
    }
  }

  private reconcile(name: string): void {
    const { mayWrite } = this.options;
    const metadata = this.classes.get(name);
    if (metadata === undefined || this.working.has(name) || !mayWrite()) return;
    const finalizers = listOf(metadata['finalizers']).filter((one) => typeof one === 'string');
    const others = finalizers.filter((one) => one !== classFinalizer);
    const has = hasFinalizer(metadata);
    const isUsed = this.users.has(name);
    // The API server rejects new finalizers on an object that is being deleted.
    if (has === isUsed || (isUsed && metadata['deletionTimestamp'] !== undefined)) return;
    void this.write(name, { ...metadata, finalizers: isUsed ? [...finalizers, classFinalizer] : others });
  }

  private async write(name: string, metadata: WireMetadata): Promise<void> {
    this.working.add(name);
    const result = await this.options.writer.setFinalizers('GatewayClass', { metadata });
    this.working.delete(name);
    if (this.classes.has(name)) this.conclude(name, metadata, result);
    this.pump();
  }

  private conclude(name: string, metadata: WireMetadata, result: WriteResult): void {
    const { log, retry = 2_000 } = this.options;
    const object = result.type === 'ok' ? result.object : undefined;
    if (object !== undefined && !this.hasNewer(object.metadata)) this.classes.set(name, object.metadata);
    if (result.type !== 'ok')
      log.debug(
        { gatewayClass: name, outcome: result.type, problem: result.message },
        'cannot change the finalizer of a GatewayClass',
      );
    // The class may have changed in the meantime.
    if (object !== undefined && hasFinalizer(object.metadata) === hasFinalizer(metadata)) this.waiting.add(name);
    // Another admission webhook may undo the change, and each further write would have the same result.
    else this.later(name, retry);
  }

  /** Whether the watch has delivered a newer version. A write of an older one would never succeed. */
  private hasNewer({ name, resourceVersion = '' }: WireMetadata): boolean {
    return isNewer(this.classes.get(name)?.resourceVersion ?? '', resourceVersion);
  }

  private later(name: string, delay: number): void {
    clearTimeout(this.timers.get(name));
    const timer = setTimeout(() => {
      this.timers.delete(name);
      this.enqueue(name);
    }, delay);
    this.timers.set(name, timer);
  }
}

function hasFinalizer({ finalizers }: WireMetadata): boolean {
  return listOf(finalizers).includes(classFinalizer);
}
