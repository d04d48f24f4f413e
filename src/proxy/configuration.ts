import type { ConfigKey, ConfigResource, ListenerConfig, MatchedRoute, RouteRule } from '../core/routing/config.ts';
import type { Layer4Version } from '../core/routing/decision/layer4.ts';
import { RouteTable, type RouteVersion } from '../core/routing/table.ts';
import type { Steps } from '../core/text/steps.ts';
import { compileRules } from './handling/compiled-rule.ts';
import type { CompiledRule } from './handling/compiled-rule.ts';
import type { EndpointRegistry } from './upstream/endpoints.ts';
import { Layer4Routes } from './layer4/routes.ts';
import { inSlices } from '../time/slices.ts';

/** Configuration resources that take effect together. */
export interface Transaction {
  readonly upserts: readonly ConfigResource[];
  readonly removals: readonly ConfigKey[];
}

interface PreparedRoute {
  readonly version: RouteVersion;
  readonly rules: ReadonlyMap<number, CompiledRule>;
}

/** A transaction whose routes are compiled and in the tables, so that `apply` only has to activate them. */
export interface PreparedTransaction extends Transaction {
  readonly routes: readonly PreparedRoute[];
  readonly layer4: readonly Layer4Version[];
}

/** The active configuration: listeners, and compiled routes. */
export class Configuration {
  readonly table = new RouteTable();
  readonly layer4 = new Layer4Routes();
  private readonly endpoints: EndpointRegistry;
  private listenersByKey: ReadonlyMap<ConfigKey, ListenerConfig> = new Map();
  private readonly rulesByRoute = new Map<ConfigKey, ReadonlyMap<number, CompiledRule>>();
  // By identity: a request in progress may still use a rule that is no longer active.
  private readonly compiled = new WeakMap<RouteRule, CompiledRule>();

  constructor(endpoints: EndpointRegistry) {
    this.endpoints = endpoints;
  }

  get listeners(): ReadonlyMap<ConfigKey, ListenerConfig> {
    return this.listenersByKey;
  }

  /** Returns the listeners after a transaction; the same map if it changes none. */
  listenersAfter({ upserts, removals }: Transaction): ReadonlyMap<ConfigKey, ListenerConfig> {
    const changed = upserts.filter((resource) => resource.kind === 'listener');
    const gone = removals.filter((key) => this.listenersByKey.has(key));
    if (changed.length === 0 && gone.length === 0) return this.listenersByKey;
    const next = new Map(this.listenersByKey);
    for (const key of gone) next.delete(key);
    for (const listener of changed) next.set(listener.key, listener);
    return next;
  }

  /**
   * Compiles the routes of a transaction, without effect until it is applied. Yields to requests in between. The result must be applied or
   * discarded before the next call.
   */
  async prepare(transaction: Transaction): Promise<PreparedTransaction> {
    return { ...transaction, ...(await inSlices(this.staged(transaction))) };
  }

  private *staged({ upserts }: Transaction): Steps<Pick<PreparedTransaction, 'routes' | 'layer4'>> {
    const routes: PreparedRoute[] = [];
    const layer4: Layer4Version[] = [];
    for (const resource of upserts) {
      if (resource.kind === 'layer4Route') layer4.push(yield* this.layer4.stage(resource));
      if (resource.kind !== 'route') continue;
      const rules = compileRules(resource, this.rulesByRoute.get(resource.key) ?? new Map());
      yield;
      routes.push({ rules, version: yield* this.table.stage(resource) });
    }
    return { routes, layer4 };
  }

  /**
   * Applies a whole transaction. Endpoints are added before the routes that use them and removed after these.
   * Synchronous, so no request sees half a change. `sweep` must follow.
   */
  apply(transaction: PreparedTransaction): void {
    this.listenersByKey = this.listenersAfter(transaction);
    const { upserts, removals, routes, layer4 } = transaction;
    for (const resource of upserts) if (resource.kind === 'endpoints') this.endpoints.upsert(resource);
    for (const version of layer4) this.layer4.activate(version);
    for (const route of routes) this.activate(route);
    const upserted = new Set(upserts.map(({ key }) => key));
    for (const key of removals) if (!upserted.has(key)) this.remove(key);
  }

  /** A prepared transaction will not be applied. `sweep` must follow. */
  discard({ routes, layer4 }: PreparedTransaction): void {
    for (const { version } of routes) this.table.versions.discard(version);
    for (const version of layer4) this.layer4.discard(version);
  }

  /** Releases what transactions leave in the tables. Yields to requests in between. */
  async sweep(): Promise<void> {
    await inSlices(this.table.versions.sweep());
    await inSlices(this.layer4.sweep());
  }

  ruleOf({ rule }: MatchedRoute): CompiledRule | undefined {
    return this.compiled.get(rule);
  }

  private activate({ version, rules }: PreparedRoute): void {
    const { route } = version;
    this.rulesByRoute.set(route.key, rules);
    for (const rule of route.rules) {
      const compiled = rules.get(rule.index);
      if (compiled !== undefined) this.compiled.set(rule, compiled);
    }
    this.table.versions.activate(version);
  }

  private remove(key: ConfigKey): void {
    this.rulesByRoute.delete(key);
    this.table.versions.deactivate(key);
    this.layer4.remove(key);
    this.endpoints.remove(key);
  }
}
