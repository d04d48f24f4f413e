import { configurationLimits, type ConfigurationLimits } from '../channel/budget.ts';
import { ConfigurationSource, type SessionState } from '../channel/source.ts';
import { acknowledgementCell, type Acknowledgement } from '../core/graph/inputs.ts';
import { deepEqual, write, type Write } from '../core/incremental/index.ts';
import type { ConfigKey, ListenerConfig } from '../core/routing/config.ts';
import { mostGenerations, type GatewayAcknowledgements, type PodAcknowledgement } from './acknowledgement-report.ts';
import type { ChangeObserver } from './change-latency.ts';
import type { GatewayChange } from './configuration-by-gateway.ts';
import type { Reachability } from './data-plane-services.ts';
import { monotonicNow } from '../time/clock.ts';
import { NextTurn } from '../time/next-turn.ts';
import { argsOfKey } from '../core/resources/reference.ts';
import { remarkOnWithheld, withheldWrites } from './withheld-configuration.ts';

export interface DataPlanesOptions {
  /** Writes to the evaluation. The resulting configuration may call `publish` before this returns. */
  readonly tell: (writes: readonly Write[]) => void;
  /** The generation of an owner of listeners (`kind/namespace/name`) whose status has Programmed=True. */
  readonly programmed: (owner: string) => number | undefined;
  /** Called when the configuration in force on data planes that are connected here has changed. */
  readonly onReport: () => void;
  /** Called when the remark on late data planes of this Gateway has changed. */
  readonly onStateChange: (gateway: string) => void;
  /** The heap in bytes of each worker of the data planes of a Gateway; undefined: unlimited. */
  readonly heapOf?: (gateway: string) => number | undefined;
  /** Called when other objects of a Gateway exceed the limits for its configuration. The remark is empty if none does any more. */
  readonly onWithheld?: (gateway: string, remark: string) => void;
  /** Observes how long changes take until they are in force. */
  readonly changes?: ChangeObserver;
  /** Milliseconds that a data plane has to acknowledge a generation. Later ones are left out of account. */
  readonly patience?: number;
}

/** The state of the data planes of a Gateway. */
export interface DataPlaneState {
  /** Pods that are ready for traffic. */
  readonly ready: number;
  /** Ready pods that did not acknowledge the newest generation in time. */
  readonly late: number;
  /** Ready pods that are too old for the configuration, and reject requests that it protects. */
  readonly outdated: number;
  /** A remark on pods that are late, too old or unreachable, and on resources that are withheld. `''` if there are none. */
  readonly remark: string;
}

const defaultPatience = 15_000;
/** Changes on their way that are observed; the duration of further ones is not. */
const maxObserved = 1_000;
/** Milliseconds. Work of a data plane that takes longer is followed by a pause of the same length. */
const longestWork = 5;

/** A Gateway or a ListenerSet, with its published state. */
interface OwnerState {
  /** Listener key → name. */
  readonly listeners: Map<ConfigKey, string>;
  /** Its newest generation, the time of its publication, and the first configuration id that contains it. */
  published: { readonly generation: number; readonly at: number; readonly id: number };
  /** Pod → the newest generation that it acknowledged to this replica. */
  readonly held: Map<string, number>;
  /** The newest generation that all data planes had in force at one time. */
  acknowledged: number;
  /** The last value written to the evaluation, as JSON. */
  emitted: string | undefined;
}

/** Pods without the newest generation: how many still have time, how many are past their deadline, and the next deadline. */
interface Behind {
  readonly inTime: number;
  readonly late: number;
  readonly next: number;
}

/** What a pod that is connected here has acknowledged, besides the generations. */
type Answer = Pick<SessionState, 'problems' | 'isOutdated'>;

/**
 * The configuration of the data planes of one Gateway, and their acknowledgements to this replica and to others. Data planes are
 * identified by their pods. Only ready pods count, because they get the traffic. An acknowledgement costs only what it changes: all
 * that arrive in a turn are compared with all pods once.
 */
export class GatewayDataPlanes {
  readonly source: ConfigurationSource;
  private readonly gateway: string;
  private readonly options: DataPlanesOptions;
  private readonly owners = new Map<string, OwnerState>();
  /** Listener key → owner. */
  private readonly ownerOf = new Map<ConfigKey, string>();
  /** Ready pod → time since when it is expected to acknowledge: since it is ready, or has lost its connection. */
  private ready = new Map<string, number>();
  /** The reports of other replicas, by replica. */
  private readonly otherReports = new Map<string, GatewayAcknowledgements>();
  private addresses: Acknowledgement['addresses'] = [];
  /** Pods that are connected here and have acknowledged something. */
  private readonly answers = new Map<string, Answer>();
  /** The report, until it changes. */
  private lastReport: GatewayAcknowledgements | undefined;
  private late: ReadonlySet<string> = new Set();
  private outdated: ReadonlySet<string> = new Set();
  private remark = '';
  private withheld: GatewayDataPlanes['source']['withheld'];
  private withheldRemark = '';
  /** The problems of listeners for which the configuration has no room. */
  private listenerProblems: ReadonlyMap<ConfigKey, string> = new Map();
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;
  /** Milliseconds that the last comparison with all pods took. */
  private worked = 0;
  private readonly settleLater = new NextTurn(() => {
    if (!this.isStopped) this.settle();
  });
  /** Changes that not all connected data planes have acknowledged, oldest first, with the time of arrival of their event. */
  private readonly underway: { readonly id: number; readonly arrived: number }[] = [];
  private newest = 0;

  /** @param gateway `namespace/name` */
  constructor(gateway: string, options: DataPlanesOptions) {
    this.gateway = gateway;
    this.options = options;
    this.source = new ConfigurationSource(this.limits);
    this.withheld = this.source.withheld;
    this.owner(`Gateway/${gateway}`);
    this.source.onAcknowledged((session) => this.note(session));
    this.source.onDisconnected(({ name }) => this.drop(name));
  }

  /** The configuration in force on data planes that are connected here. Empty if a report has no room for it. */
  get report(): GatewayAcknowledgements {
    return (this.lastReport ??= this.currentReport());
  }

  /** The number of pods in the report. */
  get connected(): number {
    return this.answers.size;
  }

  get state(): DataPlaneState {
    const isReachable = this.addresses.length > 0 || this.ready.size === 0;
    return {
      ready: this.ready.size,
      late: this.late.size,
      outdated: this.outdated.size,
      remark: isReachable ? this.remark : unreachable,
    };
  }

  /** @param arrived when the event that caused the change arrived, by the monotonic clock; undefined: for no event */
  publish({ upserts, removals }: GatewayChange, arrived?: number): void {
    const id = this.source.publish(upserts.values(), removals);
    if (arrived !== undefined && id > this.newest) this.observe(id, arrived);
    this.newest = id;
    for (const key of removals) this.withdraw(key);
    for (const resource of upserts.values()) if (resource.kind === 'listener') this.announce(resource, id);
    this.noteWithheld();
  }

  /** Limits the configuration by the memory of the data planes, after it may have changed. */
  resize(): void {
    this.newest = this.source.setLimits(this.limits);
    this.noteWithheld();
  }

  private get limits(): ConfigurationLimits {
    return configurationLimits(this.options.heapOf?.(this.gateway));
  }

  /** Reports the resources without room if they have changed. */
  private noteWithheld(): void {
    const [before, now] = [this.withheld, this.source.withheld];
    if (this.source.listenerProblems !== this.listenerProblems) {
      this.listenerProblems = this.source.listenerProblems;
      this.settleSoon();
    }
    if (now === before) return;
    this.withheld = now;
    const remark = remarkOnWithheld(now);
    if (remark !== this.withheldRemark) {
      this.withheldRemark = remark;
      this.options.onWithheld?.(this.gateway, remark);
      this.settle();
    }
    // This goes last because it may reenter this object.
    this.options.tell(withheldWrites(this.gateway, before, now));
  }

  setReachability({ addresses, pods }: Reachability): void {
    const now = monotonicNow();
    this.addresses = addresses;
    this.ready = new Map([...pods].map((pod) => [pod, this.ready.get(pod) ?? now]));
    this.settle();
  }

  /** Takes the report of another replica. `undefined` if the replica is gone. */
  observeReport(replica: string, report: GatewayAcknowledgements | undefined): void {
    for (const pod of this.otherReports.get(replica)?.keys() ?? []) if (report?.has(pod) !== true) this.noteLoss(pod);
    if (report === undefined) this.otherReports.delete(replica);
    else this.otherReports.set(replica, report);
    this.settle();
  }

  /** Recomputes the acknowledged generations and reports changes. */
  settle(): void {
    const began = monotonicNow();
    const writes = this.advanceAll();
    this.worked = monotonicNow() - began;
    // This goes last because it may reenter this object.
    if (writes.length > 0) this.options.tell(writes);
  }

  private advanceAll(): readonly Write[] {
    const late = new Set<string>();
    let next = Infinity;
    for (const [name, owner] of this.owners) next = Math.min(next, this.advance(name, owner, late));
    this.settleAt(next);
    const elsewhere = this.answersElsewhere();
    this.setRemark(late, [...elsewhere, ...this.answers]);
    const problems = this.problemsByOwner([...elsewhere, ...this.answers]);
    return [...this.owners].flatMap(([name, owner]) => {
      const value = this.acknowledgementOf(owner, problems.get(name));
      const text = value && JSON.stringify(value);
      if (text === owner.emitted) return [];
      owner.emitted = text;
      return [write(acknowledgementCell, argsOfKey(name), value)];
    });
  }

  /** Stops the timer. */
  stop(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** Closes the configuration source, and removes the acknowledgements from the evaluation. */
  retire(): void {
    this.stop();
    this.source.close();
    if (this.withheld.size > 0) this.options.tell(withheldWrites(this.gateway, this.withheld, new Map()));
    const emitted = [...this.owners].filter(([, owner]) => owner.emitted !== undefined);
    this.owners.clear();
    if (emitted.length > 0)
      this.options.tell(emitted.map(([name]) => write(acknowledgementCell, argsOfKey(name), undefined)));
  }

  private owner(name: string): OwnerState {
    const known = this.owners.get(name);
    if (known !== undefined) return known;
    const owner: OwnerState = {
      listeners: new Map(),
      published: { generation: 0, at: monotonicNow(), id: 0 },
      held: new Map(),
      acknowledged: -1,
      emitted: undefined,
    };
    this.owners.set(name, owner);
    return owner;
  }

  private announce({ key, name, owner: ownerName, generation }: ListenerConfig, id: number): void {
    const owner = this.owner(ownerName);
    this.ownerOf.set(key, ownerName);
    owner.listeners.set(key, name);
    if (generation === owner.published.generation) return;
    if (generation < owner.published.generation) this.restart(owner);
    owner.published = { generation, at: monotonicNow(), id };
    // The timer covers the case that no data plane acknowledges it.
    if (this.timer === undefined) this.settleAt(monotonicNow() + this.patience);
  }

  /** Forgets the acknowledgements for an owner that was created again, or restored from a backup: its generations begin anew. */
  private restart(owner: OwnerState): void {
    owner.held.clear();
    owner.acknowledged = -1;
    this.reportChanged();
  }

  private withdraw(listener: ConfigKey): void {
    const name = this.ownerOf.get(listener);
    const owner = this.owners.get(name ?? '');
    if (name === undefined || owner === undefined) return;
    this.ownerOf.delete(listener);
    owner.listeners.delete(listener);
    // The Gateway itself stays. There is no event when a ListenerSet goes away.
    if (owner.listeners.size > 0 || name === `Gateway/${this.gateway}`) return;
    this.owners.delete(name);
    if (owner.held.size > 0) this.reportChanged();
    if (owner.emitted !== undefined) this.options.tell([write(acknowledgementCell, argsOfKey(name), undefined)]);
  }

  private observe(id: number, arrived: number): void {
    if (this.source.states().length === 0) return;
    this.options.changes?.sent(arrived);
    if (this.underway.length < maxObserved) this.underway.push({ id, arrived });
  }

  /** Observes the changes that all connected data planes have acknowledged. */
  private observeAcknowledged(): void {
    let [oldest] = this.underway;
    while (oldest !== undefined && this.source.laggards(oldest.id).length === 0) {
      this.options.changes?.acknowledged(oldest.arrived);
      this.underway.shift();
      [oldest] = this.underway;
    }
  }

  private note({ name, acknowledged = -1, problems, isOutdated }: SessionState): void {
    this.observeAcknowledged();
    const answer = { problems, isOutdated };
    let isNew = !deepEqual(answer, this.answers.get(name));
    this.answers.set(name, answer);
    for (const { published, held } of this.owners.values()) {
      if (acknowledged < published.id || held.get(name) === published.generation) continue;
      held.set(name, published.generation);
      isNew = true;
    }
    if (isNew) this.reportChanged();
  }

  private drop(pod: string): void {
    const states = this.source.states();
    if (states.length === 0) this.underway.length = 0;
    this.observeAcknowledged();
    if (states.some(({ name }) => name === pod)) return;
    this.noteLoss(pod);
    for (const { held } of this.owners.values()) held.delete(pod);
    if (this.answers.delete(pod)) this.reportChanged();
  }

  /**
   * Gives a pod whose connection ends time to connect again, perhaps to another replica, before it counts as late. One that was behind gets
   * none: it could delay new generations forever.
   */
  private noteLoss(pod: string): void {
    const isUpToDate = ([name, owner]: [string, OwnerState]): boolean =>
      this.heldBy(pod, name, owner) >= owner.published.generation;
    if (this.ready.has(pod) && this.owners.entries().every(isUpToDate)) this.ready.set(pod, monotonicNow());
  }

  private reportChanged(): void {
    this.lastReport = undefined;
    this.options.onReport();
    this.settleSoon();
  }

  private settleSoon(): void {
    if (this.worked > longestWork) this.settleLater.requestAfter(this.worked);
    else this.settleLater.request();
  }

  private currentReport(): GatewayAcknowledgements {
    const count = this.owners.values().reduce((sum, { held }) => sum + held.size, 0);
    if (count > mostGenerations) return new Map();
    const generations = new Map<string, Record<string, number>>([...this.answers.keys()].map((pod) => [pod, {}]));
    for (const [owner, { held }] of this.owners) {
      for (const [pod, generation] of held) {
        const ofPod = generations.get(pod);
        if (ofPod !== undefined) ofPod[owner] = generation;
      }
    }
    return new Map(
      [...this.answers].map(([pod, { problems, isOutdated }]): [string, PodAcknowledgement] => [
        pod,
        {
          generations: generations.get(pod) ?? {},
          problems: Object.fromEntries(problems),
          ...(isOutdated && { isOutdated }),
        },
      ]),
    );
  }

  /**
   * Advances the acknowledged generation to the one that all ready data planes have, except those that are late. Adds these to `allLate`.
   *
   * @returns the next deadline of a data plane
   */
  private advance(name: string, owner: OwnerState, allLate: Set<string>): number {
    // A generation that was programmed stays programmed: a restarted data plane loads all of it before it is ready.
    owner.acknowledged = Math.max(owner.acknowledged, this.options.programmed(name) ?? -1);
    const { inTime, late, next } = this.behind(name, owner, allLate);
    if (inTime === 0 && late < this.ready.size)
      owner.acknowledged = Math.max(owner.acknowledged, owner.published.generation);
    return next;
  }

  /** There may be thousands of pods, and hundreds of owners. */
  private behind(name: string, owner: OwnerState, allLate: Set<string>): Behind {
    const { generation, at } = owner.published;
    const now = monotonicNow();
    let inTime = 0;
    let late = 0;
    let next = Infinity;
    for (const [pod, since] of this.ready) {
      if (this.heldBy(pod, name, owner) >= generation) continue;
      const deadline = Math.max(at, since) + this.patience;
      if (deadline <= now) {
        late += 1;
        allLate.add(pod);
      } else {
        inTime += 1;
        if (deadline < next) next = deadline;
      }
    }
    return { inTime, late, next };
  }

  private get patience(): number {
    return this.options.patience ?? defaultPatience;
  }

  /** @param moment Infinity for no timer */
  private settleAt(moment: number): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (!Number.isFinite(moment)) return;
    // Timers may fire a little early.
    this.timer = setTimeout(() => this.settle(), Math.ceil(moment - monotonicNow()) + 1);
    this.timer.unref();
  }

  private heldBy(pod: string, name: string, { held }: OwnerState): number {
    let newest = held.get(pod) ?? -1;
    for (const report of this.otherReports.values())
      newest = Math.max(newest, report.get(pod)?.generations[name] ?? -1);
    return newest;
  }

  private acknowledgementOf(
    { acknowledged }: OwnerState,
    problems: readonly (readonly [string, string])[] = [],
  ): Acknowledgement | undefined {
    if (acknowledged < 0 || this.addresses.length === 0) return undefined;
    return { generation: acknowledged, addresses: this.addresses, listenerProblems: Object.fromEntries(problems) };
  }

  /** Owner → the names of its listeners with their problems. There may be thousands of problems. */
  private problemsByOwner(answers: readonly PodAnswer[]): ReadonlyMap<string, readonly (readonly [string, string])[]> {
    const byOwner = new Map<string, (readonly [string, string])[]>();
    // Those for which there is no room go last, because they replace the others.
    for (const problems of [...answers.map(([, answer]) => answer.problems), this.listenerProblems]) {
      for (const [key, message] of problems) {
        const owner = this.ownerOf.get(key);
        const name = owner === undefined ? undefined : this.owners.get(owner)?.listeners.get(key);
        if (owner === undefined || name === undefined) continue;
        const own = byOwner.get(owner);
        if (own === undefined) byOwner.set(owner, [[name, message]]);
        else own.push([name, message]);
      }
    }
    return byOwner;
  }

  /** What ready pods acknowledged to other replicas. For a pod that is connected here, its own answer is newer. */
  private answersElsewhere(): readonly PodAnswer[] {
    return [...this.otherReports.values()].flatMap((report) =>
      [...report]
        .filter(([pod]) => this.ready.has(pod) && !this.answers.has(pod))
        .map(([pod, { problems, isOutdated = false }]): PodAnswer => [
          pod,
          { problems: new Map(Object.entries(problems)), isOutdated },
        ]),
    );
  }

  private setRemark(late: ReadonlySet<string>, answers: readonly PodAnswer[]): void {
    this.late = late;
    const outdated = answers.filter(([pod, { isOutdated }]) => isOutdated && this.ready.has(pod));
    this.outdated = new Set(outdated.map(([pod]) => pod));
    const remark = [remarkOn(late), remarkOnOutdated(this.outdated), this.withheldRemark]
      .filter((text) => text !== '')
      .join(' ');
    if (remark === this.remark) return;
    this.remark = remark;
    this.options.onStateChange(this.gateway);
  }
}

/** A pod, and what it acknowledged. */
type PodAnswer = readonly [string, Answer];

const unreachable = 'The Service of the data plane has no address yet: the load balancer has not assigned one.';

function remarkOn(late: ReadonlySet<string>): string {
  return late.size === 0
    ? ''
    : `These data plane pods did not acknowledge the newest generation in time and may serve an older one: ${listed([...late])}.`;
}

function remarkOnOutdated(pods: ReadonlySet<string>): string {
  return pods.size === 0
    ? ''
    : `These data plane pods are older than the controller and reject requests that need a filter which they do not support: ${listed([...pods])}. Update the data planes.`;
}

const shown = 3;

function listed(pods: readonly string[]): string {
  const more = pods.length - shown;
  return `${pods.toSorted().slice(0, shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
