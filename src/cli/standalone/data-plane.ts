import { connectInProcess } from '../../channel/in-process.ts';
import { ConfigurationSink, type Apply } from '../../channel/sink.ts';
import { ConfigurationSource, type SessionState } from '../../channel/source.ts';
import { acknowledgementCell, type Acknowledgement } from '../../core/graph/inputs.ts';
import { write, type Delta, type Write } from '../../core/incremental/index.ts';
import type { ConfigKey, ConfigResource, ListenerConfig } from '../../core/routing/config.ts';
import { configuration } from '../../core/routing/emit.ts';
import type { Address } from '../../proxy/sockets/address.ts';
import { reachableAt } from './addresses.ts';
import { argsOfKey } from '../../core/resources/reference.ts';

/**
 * The controller's side of a data plane in the same process. Publishes the configuration from the evaluation, and writes
 * acknowledgements back to it, where they become the condition Programmed.
 */
export class StandaloneDataPlane {
  readonly sink: ConfigurationSink;
  private readonly source = new ConfigurationSource();
  private readonly addressesOf: (listener: ListenerConfig) => readonly Address[];
  private readonly connection: { close(): void };
  private readonly published = new Map<ConfigKey, ListenerConfig>();
  private readonly acknowledged = new Map<string, string>();
  private readonly waiting: { readonly id: number; readonly resolve: () => void }[] = [];
  private newest = 0;

  constructor(apply: Apply, addressesOf: (listener: ListenerConfig) => readonly Address[]) {
    this.addressesOf = addressesOf;
    this.sink = new ConfigurationSink(apply);
    this.connection = connectInProcess(this.source, this.sink);
  }

  /** Calls `listener` with the input writes for each acknowledgement. Returns how to unsubscribe. */
  onAcknowledged(listener: (writes: readonly Write[]) => void): () => void {
    return this.source.onAcknowledged((state) => {
      const acknowledged = state.acknowledged ?? -1;
      // An acknowledgement of an older state tells nothing about the current one.
      if (acknowledged >= this.newest) listener(this.writesOf(state));
      while (this.waiting[0] !== undefined && this.waiting[0].id <= acknowledged) this.waiting.shift()?.resolve();
    });
  }

  /** Publishes a change of the evaluation. Resolves when the data plane has it in force. */
  async publish(delta: Delta): Promise<void> {
    const { upserted, removed } = delta.of(configuration);
    for (const [key, resource] of upserted) this.remember(key, resource);
    for (const key of removed) this.published.delete(key);
    const id = this.source.publish(upserted.values(), removed);
    if (id === this.newest) return;
    this.newest = id;
    await new Promise<void>((resolve) => this.waiting.push({ id, resolve }));
  }

  /** Published listeners, in stable order. */
  listeners(): readonly ListenerConfig[] {
    return [...this.published.values()].sort((one, other) => (one.key < other.key ? -1 : 1));
  }

  close(): void {
    this.connection.close();
  }

  private remember(key: ConfigKey, resource: ConfigResource): void {
    if (resource.kind === 'listener') this.published.set(key, resource);
  }

  private writesOf(state: SessionState): readonly Write[] {
    const byOwner = Map.groupBy(this.published.values(), (listener) => listener.owner);
    const gone = [...this.acknowledged.keys()].filter((owner) => !byOwner.has(owner));
    for (const owner of gone) this.acknowledged.delete(owner);
    const writes = gone.map((owner) => write(acknowledgementCell, argsOfKey(owner), undefined));
    for (const [owner, listeners] of byOwner) {
      const value = this.acknowledgementOf(listeners, state);
      const text = JSON.stringify(value);
      if (this.acknowledged.get(owner) === text) continue;
      this.acknowledged.set(owner, text);
      writes.push(write(acknowledgementCell, argsOfKey(owner), value));
    }
    return writes;
  }

  private acknowledgementOf(listeners: readonly ListenerConfig[], state: SessionState): Acknowledgement {
    const hosts = new Set(listeners.flatMap((listener) => this.addressesOf(listener).map(({ host }) => host)));
    const reachable = new Set([...hosts].flatMap(reachableAt));
    const problems = listeners.flatMap((listener) => {
      const problem = state.problems.get(listener.key);
      return problem === undefined ? [] : [[listener.name, problem] as const];
    });
    return {
      generation: Math.max(...listeners.map((listener) => listener.generation)),
      addresses: [...reachable].map((value) => ({ type: 'IPAddress', value })),
      listenerProblems: Object.fromEntries(problems),
    };
  }
}
