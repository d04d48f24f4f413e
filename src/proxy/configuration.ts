import type { ConfigKey, ConfigResource, ListenerConfig, MatchedRoute, RouteConfig, RouteRule } from '../core/routing/config.ts';
import { RouteTable } from '../core/routing/table.ts';
import { compileRules } from './compiled-rule.ts';
import type { CompiledRule } from './compiled-rule.ts';
import type { EndpointRegistry } from './endpoints.ts';

/** Configuration resources that take effect together. */
export interface Transaction {
  readonly upserts: readonly ConfigResource[];
  readonly removals: readonly ConfigKey[];
}

/** The configuration in force: listeners, and routes compiled for use. Synchronous, so that no request sees half a change. */
export class Configuration {
  readonly table = new RouteTable();
  private readonly endpoints: EndpointRegistry;
  private listenersByKey: ReadonlyMap<ConfigKey, ListenerConfig> = new Map();
  private readonly rulesByRoute = new Map<ConfigKey, ReadonlyMap<number, CompiledRule>>();
  // By identity: a request under way may still hold a rule that is no longer in force.
  private readonly compiled = new WeakMap<RouteRule, CompiledRule>();

  constructor(endpoints: EndpointRegistry) {
    this.endpoints = endpoints;
  }

  get listeners(): ReadonlyMap<ConfigKey, ListenerConfig> {
    return this.listenersByKey;
  }

  /** The listeners as they would stand after a transaction; the same map where it touches none. */
  listenersAfter({ upserts, removals }: Transaction): ReadonlyMap<ConfigKey, ListenerConfig> {
    const changed = upserts.filter((resource) => resource.kind === 'listener');
    const gone = removals.filter((key) => this.listenersByKey.has(key));
    if (changed.length === 0 && gone.length === 0) return this.listenersByKey;
    const next = new Map(this.listenersByKey);
    for (const key of gone) next.delete(key);
    for (const listener of changed) next.set(listener.key, listener);
    return next;
  }

  /** Applies a whole transaction: endpoints before the routes that use them, and away after these. */
  apply(transaction: Transaction): void {
    this.listenersByKey = this.listenersAfter(transaction);
    const { upserts, removals } = transaction;
    for (const resource of upserts) if (resource.kind === 'endpoints') this.endpoints.upsert(resource);
    for (const resource of upserts) if (resource.kind === 'route') this.upsertRoute(resource);
    const upserted = new Set(upserts.map(({ key }) => key));
    for (const key of removals) if (!upserted.has(key)) this.remove(key);
  }

  ruleOf({ rule }: MatchedRoute): CompiledRule | undefined {
    return this.compiled.get(rule);
  }

  private upsertRoute(route: RouteConfig): void {
    const rules = compileRules(route, this.rulesByRoute.get(route.key) ?? new Map());
    this.rulesByRoute.set(route.key, rules);
    for (const rule of route.rules) {
      const compiled = rules.get(rule.index);
      if (compiled !== undefined) this.compiled.set(rule, compiled);
    }
    this.table.upsert(route);
  }

  private remove(key: ConfigKey): void {
    this.rulesByRoute.delete(key);
    this.table.remove(key);
    this.endpoints.remove(key);
  }
}
