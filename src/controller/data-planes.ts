import { ConfigurationSource, type SessionState } from '../channel/source.ts';
import { acknowledgementCell, type Acknowledgement } from '../core/graph/inputs.ts';
import { write, type Write } from '../core/incremental/index.ts';
import type { ConfigKey } from '../core/routing/config.ts';
import { PerGateway, type ConfigurationChange, type GatewayChange } from './per-gateway.ts';

interface DataPlaneState {
  readonly source: ConfigurationSource;
  /** Listener key → name, as published. */
  readonly listeners: Map<ConfigKey, string>;
  readonly stopListening: () => void;
  /** The Gateway's newest published generation, and the id from which on it is in force. */
  published: { readonly generation: number; readonly id: number };
  /** The newest generation that all data planes had in force at one time. */
  acknowledged: number | undefined;
  addresses: Acknowledgement['addresses'];
  /** What evaluation was told last. */
  told: string | undefined;
}

/**
 * The configuration of each Gateway's data planes, and what they say about it. Gateways are named `namespace/name`.
 */
export class DataPlanes {
  readonly #states = new Map<string, DataPlaneState>();
  readonly #perGateway = new PerGateway();
  readonly #tell: (writes: readonly Write[]) => void;

  /** `tell` takes what evaluation must know; it may come back here by `publish`. */
  constructor(tell: (writes: readonly Write[]) => void) {
    this.#tell = tell;
  }

  /** Sends what changed to those whom it concerns. */
  publish(change: ConfigurationChange): void {
    for (const [gateway, part] of this.#perGateway.take(change)) this.#publishTo(this.#open(gateway), part);
  }

  /** Where data planes of a Gateway get their configuration; nothing for Gateways that are not served. */
  sourceOf(gateway: string): ConfigurationSource | undefined {
    return this.#states.get(gateway)?.source;
  }

  /**
   * The Gateway is served: from now on its data planes may connect, whether or not there is anything to serve.
   * `programmed` is the generation that they were known to serve before this controller started.
   */
  serve(gateway: string, programmed: number | undefined): void {
    this.#open(gateway).acknowledged ??= programmed;
  }

  /** The Gateway is gone or somebody else's. */
  forget(gateway: string): void {
    const state = this.#states.get(gateway);
    if (state === undefined) return;
    state.stopListening();
    this.#states.delete(gateway);
    if (state.told !== undefined) this.#tell([write(acknowledgementCell, partsOf(gateway), undefined)]);
  }

  /** Under which addresses the data planes of a Gateway can be reached. */
  setAddresses(gateway: string, addresses: Acknowledgement['addresses']): void {
    const state = this.#states.get(gateway);
    if (state === undefined) return;
    state.addresses = addresses;
    this.#report(gateway, state);
  }

  #open(gateway: string): DataPlaneState {
    const known = this.#states.get(gateway);
    if (known !== undefined) return known;
    const source = new ConfigurationSource();
    const stopListening = source.onAcknowledged(() => this.#report(gateway, state));
    const state: DataPlaneState = { source, stopListening, listeners: new Map(), published: { generation: 0, id: 0 }, acknowledged: undefined, addresses: [], told: undefined };
    this.#states.set(gateway, state);
    return state;
  }

  #publishTo(state: DataPlaneState, { upserts, removals }: GatewayChange): void {
    const id = state.source.publish(upserts.values(), removals);
    for (const key of removals) state.listeners.delete(key);
    for (const resource of upserts.values()) {
      if (resource.kind !== 'listener') continue;
      state.listeners.set(resource.key, resource.name);
      if (resource.generation > state.published.generation) state.published = { generation: resource.generation, id };
    }
  }

  #report(gateway: string, state: DataPlaneState): void {
    const sessions = state.source.states().filter(hasAnswered);
    const { generation, id } = state.published;
    // What was in force stays so: a data plane that restarts begins with all of it before it is ready.
    if (sessions.length > 0 && sessions.every(({ acknowledged }) => acknowledged >= id)) state.acknowledged = Math.max(generation, state.acknowledged ?? 0);
    if (state.acknowledged === undefined || state.addresses.length === 0) return;
    const value: Acknowledgement = { generation: state.acknowledged, addresses: state.addresses, listenerProblems: problemsOf(state, sessions) };
    const text = JSON.stringify(value);
    if (text === state.told) return;
    state.told = text;
    this.#tell([write(acknowledgementCell, partsOf(gateway), value)]);
  }
}

type AnsweredSession = SessionState & { readonly acknowledged: number };

/** One that has not answered once is starting, and gets no traffic yet. */
function hasAnswered(session: SessionState): session is AnsweredSession {
  return session.acknowledged !== undefined;
}

function problemsOf({ listeners }: DataPlaneState, sessions: readonly SessionState[]): Acknowledgement['listenerProblems'] {
  const problems = sessions.flatMap((session) => [...session.problems].flatMap(([key, message]) => {
    const name = listeners.get(key);
    return name === undefined ? [] : [[name, message] as const];
  }));
  return Object.fromEntries(problems);
}

function partsOf(gateway: string): [string, string] {
  const [namespace = '', name = ''] = gateway.split('/');
  return [namespace, name];
}
