import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import { allObjects, boundTo, desiredObjects, keepingClass, type DataPlaneSettings, type GatewayFacts } from './data-plane-manifests.ts';
import { gatewayOfChild } from './data-plane-objects.ts';
import type { DataPlaneProblem } from './data-plane-problems.ts';
import { DriftDetector } from './drift-detector.ts';
import type { ClusterWriter, ObjectChange, WireObject, WriteResult } from './ports.ts';

export interface DataPlaneProvisionerOptions {
  readonly writer: Pick<ClusterWriter, 'read' | 'apply' | 'remove'>;
  readonly settings: () => DataPlaneSettings;
  /** What a Gateway needs now. */
  readonly needOf: (namespace: string, name: string) => Need;
  /** Asked before everything that is sent. */
  readonly mayWrite: () => boolean;
  /** What stands in the way of a Gateway's objects has changed. */
  readonly onProblem: (gateway: string) => void;
  /** Somebody has changed or deleted an object, which will be made as before. */
  readonly onDrift: (gateway: string, object: WireObject) => void;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds until the next attempt after a failure; twice as many after each further one, up to twelve times as many. */
  readonly retry?: number;
}

/** What is to become of a Gateway's objects: they are made like this, left as they are, or deleted. */
export type Need = GatewayFacts | 'unchanged' | 'none';

/** Gateways that are worked on at one time: a new leader looks at all of them, and statuses shall not wait for that. */
const concurrency = 8;

/**
 * Makes the objects of each Gateway's data plane what they must be. One Gateway has one piece of work at a time; the
 * next one looks at the newest state. Objects of the same names that are somebody else's are never touched.
 */
export class DataPlaneProvisioner {
  readonly #options: DataPlaneProvisionerOptions;
  readonly #working = new Map<string, Promise<void>>();
  readonly #queue = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** Gateway → how often in a row it did not work out. */
  readonly #failures = new Map<string, number>();
  /** What was applied last, as JSON; Gateways without objects are missing. */
  readonly #applied = new Map<string, string>();
  /** Gateways whose objects may not be as they were applied. */
  readonly #unverified = new Set<string>();
  readonly #drift: DriftDetector;
  readonly #problems = new Map<string, DataPlaneProblem>();
  readonly #writes: Family<Cell>;

  constructor(options: DataPlaneProvisionerOptions) {
    this.#options = options;
    this.#drift = new DriftDetector({ onDrift: (gateway, object) => this.#undo(gateway, object) });
    this.#writes = options.metrics.counter({ name: 'provisioning_writes_total', help: 'Writes of data plane objects, by result.', labels: ['kind', 'result'] });
  }

  /** Something that the data plane of a Gateway (`namespace/name`) depends on has changed. */
  enqueue(gateway: string): void {
    this.#queue.add(gateway);
    this.#pump();
  }

  /** There may be objects of this Gateway that are not as they must be. */
  recheck(gateway: string): void {
    this.#unverified.add(gateway);
    this.enqueue(gateway);
  }

  /** An event about any object: those that were made here are kept as they were made. */
  observe(event: ObjectChange): void {
    this.#drift.observe(event);
  }

  /** What stands in the way of a Gateway's objects, and will as things are. */
  problemOf(gateway: string): DataPlaneProblem | undefined {
    return this.#problems.get(gateway);
  }

  /** Does nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#queue.clear();
    this.#drift.stop();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#working.values());
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #pump(): void {
    for (const gateway of this.#queue) {
      if (this.#working.size >= concurrency) return;
      if (this.#working.has(gateway)) continue;
      this.#queue.delete(gateway);
      this.#working.set(gateway, this.#work(gateway).finally(() => {
        this.#working.delete(gateway);
        this.#pump();
      }));
    }
  }

  async #work(gateway: string): Promise<void> {
    if (!this.#options.mayWrite()) return;
    const [namespace = '', name = ''] = gateway.split('/');
    const need = this.#options.needOf(namespace, name);
    if (need === 'unchanged') return;
    const desired = need === 'none' ? [] : desiredObjects(need, this.#options.settings());
    const text = desired.length === 0 ? undefined : JSON.stringify(desired);
    const isAsApplied = this.#applied.get(gateway) === text;
    // From here on it may be distrusted anew.
    if (!this.#unverified.delete(gateway) && isAsApplied) return;
    const outcome = text === undefined ? await this.#removeAll(gateway) : await this.#applyAll(gateway, desired);
    this.#setProblem(gateway, outcome.problem);
    if (!outcome.done) {
      this.#unverified.add(gateway);
      this.#later(gateway);
      return;
    }
    this.#failures.delete(gateway);
    if (text === undefined) this.#applied.delete(gateway);
    else this.#applied.set(gateway, text);
  }

  #undo(gateway: string, object: WireObject): void {
    if (!this.#options.mayWrite()) return;
    this.#options.onDrift(gateway, object);
    this.recheck(gateway);
  }

  /** Nothing is done where one of the names is somebody else's: half a data plane serves nobody. */
  async #applyAll(gateway: string, desired: readonly WireObject[]): Promise<Outcome> {
    const found = await Promise.all(desired.map((object) => this.#options.writer.read(object)));
    const foreign = desired.filter((_, index) => isForeign(found[index], gateway));
    if (foreign.length > 0) return { done: false, problem: conflictWith(foreign) };
    const outcomes: Outcome[] = [];
    // One after the other: each uses what stands before it.
    let account: string | undefined;
    for (const [index, wanted] of desired.entries()) {
      const live = objectOf(found[index]);
      const object = identified(live, boundTo(account, keepingClass(live, wanted)));
      this.#drift.applying(gateway, object);
      const outcome = await this.#send('apply', object);
      if (object.kind === 'ServiceAccount') account = outcome.uid ?? uidOf(found[index]);
      outcomes.push(outcome);
    }
    return summarise(outcomes);
  }

  async #removeAll(gateway: string): Promise<Outcome> {
    const [namespace = '', name = ''] = gateway.split('/');
    return summarise(await Promise.all(allObjects(namespace, name).map(async (object) => {
      this.#drift.forget(object);
      const found = await this.#options.writer.read(object);
      // What may not even be read was not made here.
      if (found.type !== 'ok') return { done: found.type === 'notFound' || (found.type === 'forbidden' && !this.#applied.has(gateway)) };
      if (isForeign(found, gateway)) return { done: true };
      const uid = uidOf(found);
      return this.#send('remove', uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid } });
    })));
  }

  async #send(step: 'apply' | 'remove', object: WireObject): Promise<Outcome> {
    const { writer, log, mayWrite } = this.#options;
    if (!mayWrite()) return { done: false };
    const result = await writer[step](object);
    const { kind = '', metadata } = object;
    this.#writes.at(kind, result.type).value += 1;
    if (result.type === 'ok') this.#drift.applied(object, result.object);
    const uid = uidOf(result);
    if (result.type === 'ok' || (step === 'remove' && result.type === 'notFound')) return { done: true, ...(uid !== undefined && { uid }) };
    log.warn({ kind, namespace: metadata.namespace, name: metadata.name, outcome: result.type, problem: result.message }, 'cannot write an object of a data plane');
    if (result.type !== 'forbidden' && result.type !== 'invalid') return { done: false };
    return { done: false, problem: { refusal: 'NoResources', message: `Cannot ${step} ${kind} "${metadata.namespace ?? ''}/${metadata.name}": ${result.message}` } };
  }

  #setProblem(gateway: string, problem: DataPlaneProblem | undefined): void {
    if (this.#problems.get(gateway)?.message === problem?.message) return;
    if (problem === undefined) this.#problems.delete(gateway);
    else this.#problems.set(gateway, problem);
    this.#options.onProblem(gateway);
  }

  #later(gateway: string): void {
    const { retry = 5_000 } = this.#options;
    const failures = this.#failures.get(gateway) ?? 0;
    this.#failures.set(gateway, failures + 1);
    clearTimeout(this.#timers.get(gateway));
    this.#timers.set(gateway, setTimeout(() => {
      this.#timers.delete(gateway);
      this.enqueue(gateway);
    }, retry * Math.min(2 ** failures, 12)));
  }
}

interface Outcome {
  readonly done: boolean;
  readonly problem?: DataPlaneProblem;
  /** Of what was written. */
  readonly uid?: string;
}

function summarise(outcomes: readonly Outcome[]): Outcome {
  const problem = outcomes.find((outcome) => outcome.problem !== undefined)?.problem;
  return { done: outcomes.every(({ done }) => done), ...(problem !== undefined && { problem }) };
}

function objectOf(result: WriteResult | undefined): WireObject | undefined {
  return result?.type === 'ok' ? result.object : undefined;
}

function uidOf(result: WriteResult | undefined): string | undefined {
  return objectOf(result)?.metadata.uid;
}

/** What is applied to an object that is there must make no other one, should it go meanwhile: a leader whose term is over may be late. */
function identified(live: WireObject | undefined, object: WireObject): WireObject {
  return live?.metadata.uid === undefined ? object : { ...object, metadata: { ...object.metadata, uid: live.metadata.uid } };
}

function isForeign(found: WriteResult | undefined, gateway: string): boolean {
  return found?.type === 'ok' && found.object !== undefined && gatewayOfChild(found.object) !== gateway;
}

function conflictWith(objects: readonly WireObject[]): DataPlaneProblem {
  const names = objects.map(({ kind, metadata }) => `${kind} "${metadata.namespace ?? ''}/${metadata.name}"`).join(', ');
  return { refusal: 'NameConflict', message: `The data plane conflicts with objects that Sallyport does not own: ${names}. Rename or delete these objects, or rename the Gateway.` };
}
