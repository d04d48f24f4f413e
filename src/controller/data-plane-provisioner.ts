import { ofQualifiedName } from '../core/resources/reference.ts';
import { parseIpAddress } from '../core/text/ip-address.ts';
import { recordOf } from '../core/text/record.ts';
import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { alwaysOpen, opened, type Gate } from '../time/slices.ts';
import {
  allObjects,
  boundTo,
  desiredObjects,
  keepingClass,
  type DataPlaneSettings,
  type GatewayFacts,
} from './data-plane-manifests.ts';
import { gatewayOfChild, gatewayOfService, isClusterService, serviceNames } from './data-plane-objects.ts';
import type { DataPlaneProblem } from './data-plane-problems.ts';
import { DriftDetector } from './drift-detector.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';
import { WorkQueue } from './work-queue.ts';

export interface DataPlaneProvisionerOptions {
  readonly writer: Pick<ClusterWriter, 'read' | 'apply' | 'remove'>;
  readonly settings: () => DataPlaneSettings;
  /** The current requirements of a Gateway. */
  readonly needOf: (namespace: string, name: string) => Need;
  /** Resolves when the requirements can be read; `undefined` if that is so. */
  readonly readable?: Gate;
  /** The Services of a Gateway that exist. Those that it does not need any more are removed. */
  readonly servicesOf: (gateway: string) => readonly WireObject[];
  /** Checked before each write. */
  readonly mayWrite: () => boolean;
  /** Called when the problem of a Gateway's objects has changed. */
  readonly onProblem: (gateway: string) => void;
  /** Called when an object was changed or deleted by someone else and will be applied again. */
  readonly onDrift: (gateway: string, object: WireObject) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds until a retry after a failure. The delay doubles with each further failure, up to twelve times the first one. */
  readonly retry?: number;
}

/** The desired state of a Gateway's objects: apply these facts, leave the objects as they are, or delete them. */
export type Need = GatewayFacts | 'unchanged' | 'none';

/** Maximum number of Gateways processed at one time. A new leader processes all of them, and statuses must not wait for that. */
const concurrency = 8;

/**
 * Reconciles the objects of each Gateway's data plane. There is at most one reconciliation per Gateway at a time, and the next one
 * starts from the newest state. Namespaces take turns. Objects of the same names that belong to someone else are never changed.
 */
export class DataPlaneProvisioner {
  private readonly options: DataPlaneProvisionerOptions;
  private readonly working = new Map<string, Promise<void>>();
  private readonly queue = new WorkQueue((gateway) => ofQualifiedName(gateway).namespace);
  private readonly timers = new Map<string, NodeJS.Timeout>();
  /** Gateway → number of consecutive failures. */
  private readonly failures = new Map<string, number>();
  /** Gateway → what was last applied. Gateways without objects have no entry. */
  private readonly applied = new Map<string, Applied>();
  /** Gateways whose objects may differ from those applied. */
  private readonly unverified = new Set<string>();
  private readonly drift: DriftDetector;
  private readonly problems = new Map<string, DataPlaneProblem>();
  private readonly writes: Family<Cell>;

  constructor(options: DataPlaneProvisionerOptions) {
    this.options = options;
    this.drift = new DriftDetector({ onDrift: (gateway, object) => this.undo(gateway, object) });
    this.writes = options.metrics.counter({
      name: 'provisioning_writes_total',
      help: 'Writes of data plane objects, by result.',
      labels: ['kind', 'result'],
    });
  }

  /** Call this when something has changed that the data plane of a Gateway (`namespace/name`) depends on. */
  enqueue(gateway: string): void {
    this.queue.add(gateway);
    this.pump();
  }

  /** Reconciles a Gateway even if its requirements have not changed, because its objects may differ. */
  recheck(gateway: string): void {
    this.unverified.add(gateway);
    this.enqueue(gateway);
  }

  /** Takes an event about any object, to detect drift of applied objects. */
  observe(event: ObjectChange): void {
    this.drift.observe(event);
    if (event.ref.kind !== 'Service' || event.type === 'delete') return;
    // A late write of a former leader, or an event that arrives after the Gateway has changed.
    const gateway = gatewayOfService(event.object);
    if (gateway !== undefined && !isLeaving(event.object) && !this.drift.tracks(event.ref) && this.options.mayWrite())
      this.recheck(gateway);
  }

  /** The problem of a Gateway's objects that will persist until something changes. */
  problemOf(gateway: string): DataPlaneProblem | undefined {
    return this.problems.get(gateway);
  }

  /** Stops reconciling. Resolves when nothing is in flight. */
  async stop(): Promise<void> {
    this.queue.clear();
    this.drift.stop();
    for (const timer of this.timers.values()) clearTimeout(timer);
    await Promise.all(this.working.values());
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private pump(): void {
    while (this.working.size < concurrency) {
      const gateway = this.queue.take();
      if (gateway === undefined) return;
      this.working.set(
        gateway,
        this.begin(gateway).finally(() => {
          this.working.delete(gateway);
          this.queue.done(gateway);
          this.pump();
        }),
      );
    }
  }

  private async begin(gateway: string): Promise<void> {
    await opened(this.options.readable ?? alwaysOpen);
    await this.work(gateway);
  }

  private async work(gateway: string): Promise<void> {
    const { namespace, name } = ofQualifiedName(gateway);
    const need = this.options.needOf(namespace, name);
    if (!this.options.mayWrite()) {
      if (need === 'none') this.forget(gateway);
      return;
    }
    if (need === 'unchanged') return;
    const settings = this.options.settings();
    const before = this.applied.get(gateway);
    if (before !== undefined && !this.unverified.has(gateway) && hasSameFacts(before, { need, settings })) return;
    const desired = need === 'none' ? [] : desiredObjects(need, settings);
    const text = desired.length === 0 ? undefined : JSON.stringify(desired);
    const isAsApplied = before?.text === text;
    // A recheck from here on marks the Gateway again.
    if (!this.unverified.delete(gateway) && isAsApplied) return;
    const outcome = text === undefined ? await this.removeAll(gateway) : await this.applyAll(gateway, desired);
    if (!outcome.done) return this.fail(gateway, outcome);
    this.setProblem(gateway, outcome.problem);
    this.failures.delete(gateway);
    if (text === undefined) this.applied.delete(gateway);
    else this.applied.set(gateway, { text, need, settings });
  }

  private fail(gateway: string, { problem }: Outcome): void {
    this.unverified.add(gateway);
    // Writes that the end of the term called off say nothing about the objects. The next term examines them again.
    if (!this.options.mayWrite()) return;
    this.setProblem(gateway, problem);
    this.later(gateway);
  }

  /** Forgets a Gateway whose objects another leader removes. */
  private forget(gateway: string): void {
    const { namespace, name } = ofQualifiedName(gateway);
    for (const object of allObjects(namespace, name)) this.drift.forget(object);
    this.forgetServices(gateway, new Set());
    clearTimeout(this.timers.get(gateway));
    this.timers.delete(gateway);
    this.failures.delete(gateway);
    this.applied.delete(gateway);
    this.unverified.delete(gateway);
    this.setProblem(gateway, undefined);
  }

  /** Stops tracking the Services of a Gateway, except those with these names. */
  private forgetServices(gateway: string, kept: ReadonlySet<string>): void {
    const { namespace } = ofQualifiedName(gateway);
    for (const name of serviceNames(gateway)) {
      if (!kept.has(name)) this.drift.forget({ kind: 'Service', metadata: { namespace, name } });
    }
  }

  private undo(gateway: string, object: WireObject): void {
    if (!this.options.mayWrite()) return;
    this.options.onDrift(gateway, object);
    this.recheck(gateway);
  }

  /** Applies nothing if one of the names belongs to someone else: half a data plane would serve no traffic. */
  private async applyAll(gateway: string, desired: readonly WireObject[]): Promise<Outcome> {
    // Before anything else: a Gateway that demands a routability must not stay reachable from elsewhere.
    const surplus = await this.removeSurplus(gateway, desired);
    const found = await Promise.all(desired.map((object) => this.options.writer.read(object)));
    const foreign = desired.filter((_, index) => isForeign(found[index], gateway));
    if (foreign.length > 0) return { done: false, problem: conflictWith(foreign) };
    const outcomes: Outcome[] = [surplus];
    // One after the other: each object depends on those before it.
    let account: string | undefined;
    for (const [index, wanted] of desired.entries()) {
      const live = await this.replaceable(objectOf(found[index]), wanted);
      const object = identified(live, boundTo(account, keepingClass(live, wanted)));
      this.drift.applying(gateway, object);
      const outcome = withoutRefusal(await this.send('apply', object), isClusterService(object, gateway));
      if (object.kind === 'ServiceAccount') account = outcome.uid ?? uidOf(found[index]);
      outcomes.push(outcome);
    }
    return summarise(outcomes);
  }

  /** Removes the Services of a Gateway that it does not need any more. */
  private async removeSurplus(gateway: string, desired: readonly WireObject[]): Promise<Outcome> {
    const names = new Set(desired.filter(({ kind }) => kind === 'Service').map(({ metadata: { name } }) => name));
    // The watch may not have delivered a Service yet. Its event then causes another reconciliation.
    this.forgetServices(gateway, names);
    const surplus = this.options
      .servicesOf(gateway)
      .filter((service) => !names.has(service.metadata.name) && !isLeaving(service));
    return summarise(await Promise.all(surplus.map((service) => this.discard(service))));
  }

  /** The live object, unless it had to be removed first: a cluster IP is immutable (ServiceSpec.clusterIP). */
  private async replaceable(live: WireObject | undefined, wanted: WireObject): Promise<WireObject | undefined> {
    if (live === undefined || !hasOtherClusterIp(live, wanted)) return live;
    await this.discard(live);
    return undefined;
  }

  private async discard(live: WireObject): Promise<Outcome> {
    const { namespace = '', name } = live.metadata;
    const object = { apiVersion: 'v1', kind: 'Service', metadata: { namespace, name } };
    this.drift.forget(object);
    return this.send('remove', identified(live, object));
  }

  private async removeAll(gateway: string): Promise<Outcome> {
    const { namespace, name } = ofQualifiedName(gateway);
    const all = allObjects(namespace, name);
    return summarise([
      await this.removeSurplus(gateway, all),
      ...(await Promise.all(
        all.map(async (object) => {
          this.drift.forget(object);
          const found = await this.options.writer.read(object);
          // If reading an object is forbidden, this controller did not create it.
          if (found.type !== 'ok')
            return { done: found.type === 'notFound' || (found.type === 'forbidden' && !this.applied.has(gateway)) };
          if (isForeign(found, gateway)) return { done: true };
          return this.send('remove', identified(objectOf(found), object));
        }),
      )),
    ]);
  }

  private async send(step: 'apply' | 'remove', object: WireObject): Promise<Outcome> {
    const { writer, log, mayWrite } = this.options;
    if (!mayWrite()) return { done: false };
    const result = await writer[step](object);
    const { kind = '', metadata } = object;
    this.writes.at(kind, result.type).value += 1;
    if (result.type === 'ok') this.drift.applied(object, result.object);
    const uid = uidOf(result);
    if (result.type === 'ok' || (step === 'remove' && result.type === 'notFound'))
      return { done: true, ...(uid !== undefined && { uid }) };
    if (!mayWrite()) return { done: false };
    log.warn(
      { kind, namespace: metadata.namespace, name: metadata.name, outcome: result.type, problem: result.message },
      'cannot write an object of a data plane',
    );
    if (result.type !== 'forbidden' && result.type !== 'invalid') return { done: false };
    return {
      done: false,
      problem: {
        refusal: 'NoResources',
        message: `Cannot ${step} ${kind} "${metadata.namespace ?? ''}/${metadata.name}": ${result.message}`,
      },
    };
  }

  private setProblem(gateway: string, problem: DataPlaneProblem | undefined): void {
    if (this.problems.get(gateway)?.message === problem?.message) return;
    if (problem === undefined) this.problems.delete(gateway);
    else this.problems.set(gateway, problem);
    this.options.onProblem(gateway);
  }

  private later(gateway: string): void {
    const { retry = 5_000 } = this.options;
    const failures = this.failures.get(gateway) ?? 0;
    this.failures.set(gateway, failures + 1);
    clearTimeout(this.timers.get(gateway));
    this.timers.set(
      gateway,
      setTimeout(
        () => {
          this.timers.delete(gateway);
          this.enqueue(gateway);
        },
        retry * Math.min(2 ** failures, 12),
      ),
    );
  }
}

/** The objects of a Gateway as last applied, in JSON, and the facts that they were derived from. */
interface Applied extends Facts {
  readonly text: string;
}

interface Facts {
  readonly need: Need;
  readonly settings: DataPlaneSettings;
}

/**
 * Whether objects derived from the facts are equal for certain. A Gateway is enqueued for each change of its status, so this compares the
 * parts of the facts, which the evaluation replaces only if they change, and no contents.
 */
function hasSameFacts(before: Facts, now: Facts): boolean {
  return hasSameParts(before.need, now.need) && hasSameParts(before.settings, now.settings);
}

function hasSameParts<T extends object>(before: T | string, now: T | string): boolean {
  if (typeof before === 'string' || typeof now === 'string') return before === now;
  const names = Object.keys(now) as (keyof T)[];
  return names.length === Object.keys(before).length && names.every((name) => before[name] === now[name]);
}

interface Outcome {
  readonly done: boolean;
  readonly problem?: DataPlaneProblem;
  /** The uid of the object as written. */
  readonly uid?: string;
}

function summarise(outcomes: readonly Outcome[]): Outcome {
  const problem = outcomes.find((outcome) => outcome.problem !== undefined)?.problem;
  return { done: outcomes.every(({ done }) => done), ...(problem !== undefined && { problem }) };
}

/** If a Service does not get the address that a Gateway requests, this is no reason to refuse the Gateway. */
function withoutRefusal(outcome: Outcome, isAboutAddress: boolean): Outcome {
  if (!isAboutAddress || outcome.problem === undefined) return outcome;
  return { ...outcome, problem: { isAboutAddress, message: outcome.problem.message } };
}

/** Whether an object is being deleted. */
function isLeaving({ metadata }: WireObject): boolean {
  return metadata['deletionTimestamp'] !== undefined;
}

function hasOtherClusterIp(live: WireObject, wanted: WireObject): boolean {
  const [present, requested] = [live, wanted].map((object) => recordOf(object['spec'])['clusterIP']);
  if (typeof present !== 'string' || typeof requested !== 'string') return false;
  return parseIpAddress(present) !== parseIpAddress(requested);
}

function objectOf(result: WriteResult | undefined): WireObject | undefined {
  return result?.type === 'ok' ? result.object : undefined;
}

function uidOf(result: WriteResult | undefined): string | undefined {
  return objectOf(result)?.metadata.uid;
}

/** Adds the uid of the live object, so that a late write of a former leader neither recreates a deleted object nor deletes a new one. */
function identified(live: WireObject | undefined, object: WireObject): WireObject {
  return live?.metadata.uid === undefined
    ? object
    : { ...object, metadata: { ...object.metadata, uid: live.metadata.uid } };
}

function isForeign(found: WriteResult | undefined, gateway: string): boolean {
  return found?.type === 'ok' && found.object !== undefined && gatewayOfChild(found.object) !== gateway;
}

function conflictWith(objects: readonly WireObject[]): DataPlaneProblem {
  const names = objects
    .map(({ kind, metadata }) => `${kind} "${metadata.namespace ?? ''}/${metadata.name}"`)
    .join(', ');
  return {
    refusal: 'NameConflict',
    message: `The data plane conflicts with objects that Sallyport does not own: ${names}. Rename or delete these objects, or rename the Gateway.`,
  };
}
