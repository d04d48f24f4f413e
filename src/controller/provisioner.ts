import type { Cell, Family, Logger, Metrics } from '../telemetry/index.ts';
import type { ClusterWriter, WireObject } from './ports.ts';
import { allObjects, desiredObjects, type DataPlaneSettings, type GatewayFacts } from './provision.ts';

export interface ProvisionerOptions {
  readonly writer: Pick<ClusterWriter, 'apply' | 'remove'>;
  readonly settings: () => DataPlaneSettings;
  /** What a Gateway needs now; nothing where no data plane of it may be. */
  readonly factsOf: (namespace: string, name: string) => GatewayFacts | undefined;
  /** Asked before everything that is sent. */
  readonly mayWrite: () => boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Milliseconds until the next attempt after a failure. */
  readonly retry?: number;
}

/**
 * Makes the objects of each Gateway's data plane what they must be. One Gateway has one piece of work at a time; the
 * next one looks at the newest state.
 */
export class Provisioner {
  readonly #options: ProvisionerOptions;
  readonly #working = new Map<string, Promise<void>>();
  readonly #marked = new Set<string>();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  /** What was applied last, as JSON; `''` where there may be something that is not known. */
  readonly #applied = new Map<string, string>();
  readonly #writes: Family<Cell>;

  constructor(options: ProvisionerOptions) {
    this.#options = options;
    this.#writes = options.metrics.counter({ name: 'provisioning_writes_total', help: 'Writes of objects of data planes, by what became of them.', labels: ['kind', 'result'] });
  }

  /** Something that the data plane of a Gateway (`namespace/name`) depends on has changed. */
  mark(gateway: string): void {
    this.#marked.add(gateway);
    if (!this.#working.has(gateway)) this.#begin(gateway);
  }

  /** Objects of this Gateway were seen that may not be as they were made. */
  distrust(gateway: string): void {
    this.#applied.set(gateway, '');
    this.mark(gateway);
  }

  /** Does nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#marked.clear();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    await Promise.all(this.#working.values());
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }

  #begin(gateway: string): void {
    const work = this.#work(gateway).finally(() => {
      this.#working.delete(gateway);
      if (this.#marked.has(gateway)) this.#begin(gateway);
    });
    this.#working.set(gateway, work);
  }

  async #work(gateway: string): Promise<void> {
    this.#marked.delete(gateway);
    if (!this.#options.mayWrite()) return;
    const [namespace = '', name = ''] = gateway.split('/');
    const facts = this.#options.factsOf(namespace, name);
    const desired = facts === undefined ? [] : desiredObjects(facts, this.#options.settings());
    const text = JSON.stringify(desired);
    if (this.#applied.get(gateway) === text || (desired.length === 0 && !this.#applied.has(gateway))) return;
    const done = desired.length === 0 ? await this.#removeAll(namespace, name) : await this.#applyAll(desired);
    if (!done) {
      this.#applied.set(gateway, '');
      this.#later(gateway);
    } else if (desired.length === 0) this.#applied.delete(gateway);
    else this.#applied.set(gateway, text);
  }

  async #applyAll(desired: readonly WireObject[]): Promise<boolean> {
    const results: boolean[] = [];
    // One after the other: each uses what stands before it.
    for (const object of desired) results.push(await this.#send('apply', object));
    return results.every(Boolean);
  }

  async #removeAll(namespace: string, name: string): Promise<boolean> {
    const results = await Promise.all(allObjects(namespace, name).map((object) => this.#send('remove', object)));
    return results.every(Boolean);
  }

  async #send(step: 'apply' | 'remove', object: WireObject): Promise<boolean> {
    const { writer, log, mayWrite } = this.#options;
    if (!mayWrite()) return false;
    const result = await writer[step](object);
    const { kind = '', metadata } = object;
    this.#writes.at(kind, result.type).value += 1;
    if (result.type === 'ok' || (step === 'remove' && result.type === 'notFound')) return true;
    log.warn({ kind, namespace: metadata.namespace, name: metadata.name, outcome: result.type, problem: result.message }, 'object of a data plane could not be written');
    return false;
  }

  #later(gateway: string): void {
    clearTimeout(this.#timers.get(gateway));
    this.#timers.set(gateway, setTimeout(() => {
      this.#timers.delete(gateway);
      this.mark(gateway);
    }, this.#options.retry ?? 5_000));
  }
}
