import { ConfigurationSource, type SessionState } from '../channel/source.ts';
import { acknowledgementCell, type Acknowledgement } from '../core/graph/inputs.ts';
import { write, type Write } from '../core/incremental/index.ts';
import type { ConfigKey } from '../core/routing/config.ts';
import { PerGateway, type ConfigurationChange, type GatewayChange } from './per-gateway.ts';

/** A Gateway or a ListenerSet, with what is published of it. */
interface OwnerState {
  /** Listener key → name. */
  readonly listeners: Map<ConfigKey, string>;
  /** Its newest generation, and the id from which on that is in force. */
  published: { readonly generation: number; readonly id: number };
  /** The newest generation that all data planes had in force at one time. */
  acknowledged: number | undefined;
  /** What evaluation was told last. */
  told: string | undefined;
}

interface DataPlaneState {
  readonly source: ConfigurationSource;
  readonly stopListening: () => void;
  /** By `kind/namespace/name`. */
  readonly owners: Map<string, OwnerState>;
  /** Listener key → owner. */
  readonly ownerOf: Map<ConfigKey, string>;
  addresses: Acknowledgement['addresses'];
}

export interface DataPlanesOptions {
  /** Takes what evaluation must know; it may come back by `publish`. */
  readonly tell: (writes: readonly Write[]) => void;
  /** The generation of an owner of listeners (`kind/namespace/name`) that was known to be served before this controller started. */
  readonly programmed: (owner: string) => number | undefined;
}

/**
 * The configuration of each Gateway's data planes, and what they say about it. Gateways are named `namespace/name`.
 */
export class DataPlanes {
  readonly #states = new Map<string, DataPlaneState>();
  readonly #perGateway = new PerGateway();
  readonly #options: DataPlanesOptions;

  constructor(options: DataPlanesOptions) {
    this.#options = options;
  }

  /** Sends what changed to those whom it concerns. */
  publish(change: ConfigurationChange): void {
    for (const [gateway, part] of this.#perGateway.take(change)) this.#publishTo(this.#open(gateway), part);
  }

  /** Where data planes of a Gateway get their configuration; nothing for Gateways that are not served. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.#states.get(gateway)?.source;
  }

  /** The Gateway is served: from now on its data planes may connect, whether or not there is anything to serve. */
  serve(gateway: string): void {
    this.#open(gateway);
  }

  /** The Gateway is gone or somebody else's. */
  forget(gateway: string): void {
    const state = this.#states.get(gateway);
    if (state === undefined) return;
    state.stopListening();
    this.#states.delete(gateway);
    const told = [...state.owners].filter(([, owner]) => owner.told !== undefined);
    if (told.length > 0) this.#options.tell(told.map(([name]) => write(acknowledgementCell, name.split('/'), undefined)));
  }

  /** Under which addresses the data planes of a Gateway can be reached. */
  setAddresses(gateway: string, addresses: Acknowledgement['addresses']): void {
    const state = this.#states.get(gateway);
    if (state === undefined) return;
    state.addresses = addresses;
    this.#report(state);
  }

  #open(gateway: string): DataPlaneState {
    const known = this.#states.get(gateway);
    if (known !== undefined) return known;
    const source = new ConfigurationSource();
    const stopListening = source.onAcknowledged(() => this.#report(state));
    const state: DataPlaneState = { source, stopListening, owners: new Map(), ownerOf: new Map(), addresses: [] };
    this.#states.set(gateway, state);
    this.#ownerIn(state, `Gateway/${gateway}`);
    return state;
  }

  #ownerIn({ owners }: DataPlaneState, name: string): OwnerState {
    const known = owners.get(name);
    if (known !== undefined) return known;
    const owner: OwnerState = { listeners: new Map(), published: { generation: 0, id: 0 }, acknowledged: this.#options.programmed(name), told: undefined };
    owners.set(name, owner);
    return owner;
  }

  #publishTo(state: DataPlaneState, { upserts, removals }: GatewayChange): void {
    const id = state.source.publish(upserts.values(), removals);
    for (const key of removals) this.#withdraw(state, key);
    for (const resource of upserts.values()) {
      if (resource.kind !== 'listener') continue;
      const owner = this.#ownerIn(state, resource.owner);
      state.ownerOf.set(resource.key, resource.owner);
      owner.listeners.set(resource.key, resource.name);
      if (resource.generation > owner.published.generation) owner.published = { generation: resource.generation, id };
    }
  }

  #withdraw({ owners, ownerOf }: DataPlaneState, listener: ConfigKey): void {
    const name = ownerOf.get(listener);
    const owner = owners.get(name ?? '');
    if (name === undefined || owner === undefined) return;
    ownerOf.delete(listener);
    owner.listeners.delete(listener);
    // Gateways stay until they are forgotten; nobody tells when a ListenerSet goes.
    if (owner.listeners.size > 0 || name.startsWith('Gateway/')) return;
    owners.delete(name);
    if (owner.told !== undefined) this.#options.tell([write(acknowledgementCell, name.split('/'), undefined)]);
  }

  #report(state: DataPlaneState): void {
    const sessions = state.source.states().filter(hasAnswered);
    const writes = [...state.owners].flatMap(([name, owner]) => {
      const value = acknowledgementOf(owner, state.addresses, sessions);
      const text = JSON.stringify(value);
      if (value === undefined || text === owner.told) return [];
      owner.told = text;
      return [write(acknowledgementCell, name.split('/'), value)];
    });
    if (writes.length > 0) this.#options.tell(writes);
  }
}

/** What evaluation must know of an owner; brings `acknowledged` up to date. */
function acknowledgementOf(owner: OwnerState, addresses: Acknowledgement['addresses'], sessions: readonly AnsweredSession[]): Acknowledgement | undefined {
  const { generation, id } = owner.published;
  // What was in force stays so: a data plane that restarts begins with all of it before it is ready.
  if (sessions.length > 0 && sessions.every(({ acknowledged }) => acknowledged >= id)) owner.acknowledged = Math.max(generation, owner.acknowledged ?? 0);
  if (owner.acknowledged === undefined || addresses.length === 0) return undefined;
  return { generation: owner.acknowledged, addresses, listenerProblems: problemsOf(owner, sessions) };
}

type AnsweredSession = SessionState & { readonly acknowledged: number };

/** One that has not answered once is starting, and gets no traffic yet. */
function hasAnswered(session: SessionState): session is AnsweredSession {
  return session.acknowledged !== undefined;
}

function problemsOf({ listeners }: OwnerState, sessions: readonly SessionState[]): Acknowledgement['listenerProblems'] {
  const problems = sessions.flatMap((session) => [...session.problems].flatMap(([key, message]) => {
    const name = listeners.get(key);
    return name === undefined ? [] : [[name, message] as const];
  }));
  return Object.fromEntries(problems);
}
