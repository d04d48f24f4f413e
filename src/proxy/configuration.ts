import { setImmediate as otherWork } from 'node:timers/promises';
import type {
  ConfigKey,
  ConfigResource,
  ListenerConfig,
  MatchedRoute,
  RouteConfig,
  RouteRule,
} from '../core/routing/config.ts';
import { placementsOf, RouteTable } from '../core/routing/table.ts';
import type { Placement } from '../core/routing/table.ts';
import { compileRules } from './handling/compiled-rule.ts';
import type { CompiledRule } from './handling/compiled-rule.ts';
import type { EndpointRegistry } from './upstream/endpoints.ts';
import { Layer4Routes } from './layer4/routes.ts';
import { monotonicNow } from '../time/clock.ts';

/** Configuration resources that take effect together. */
export interface Transaction {
  readonly upserts: readonly ConfigResource[];
  readonly removals: readonly ConfigKey[];
}

interface PreparedRoute {
  readonly route: RouteConfig;
  readonly rules: ReadonlyMap<number, CompiledRule>;
  readonly placements: readonly Placement[];
}

/** A transaction with compiled routes, so that `apply` is cheap. */
export interface PreparedTransaction extends Transaction {
  readonly routes: readonly PreparedRoute[];
}

/** Milliseconds after which compilation yields to requests. */
const slice = 5;

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

  /** Compiles the routes of a transaction without changing anything. Yields to requests in between. */
  async prepare(transaction: Transaction): Promise<PreparedTransaction> {
    const routes: PreparedRoute[] = [];
    let began = monotonicNow();
    for (const route of transaction.upserts) {
      if (route.kind !== 'route') continue;
      if (monotonicNow() - began > slice) {
        await otherWork();
        began = monotonicNow();
      }
      routes.push({
        route,
        rules: compileRules(route, this.rulesByRoute.get(route.key) ?? new Map()),
        placements: placementsOf(route),
      });
    }
    return { ...transaction, routes };
  }

  /**
   * Applies a whole transaction. Endpoints are added before the routes that use them and removed after these.
   * Synchronous, so no request sees half a change.
   */
  apply(transaction: PreparedTransaction): void {
    this.listenersByKey = this.listenersAfter(transaction);
    const { upserts, removals, routes } = transaction;
    for (const resource of upserts) if (resource.kind === 'endpoints') this.endpoints.upsert(resource);
    for (const resource of upserts) if (resource.kind === 'layer4Route') this.layer4.upsert(resource);
    for (const route of routes) this.upsertRoute(route);
    const upserted = new Set(upserts.map(({ key }) => key));
    for (const key of removals) if (!upserted.has(key)) this.remove(key);
  }

  ruleOf({ rule }: MatchedRoute): CompiledRule | undefined {
    return this.compiled.get(rule);
  }

  private upsertRoute({ route, rules, placements }: PreparedRoute): void {
    this.rulesByRoute.set(route.key, rules);
    for (const rule of route.rules) {
      const compiled = rules.get(rule.index);
      if (compiled !== undefined) this.compiled.set(rule, compiled);
    }
    this.table.upsert(route, placements);
  }

  private remove(key: ConfigKey): void {
    this.rulesByRoute.delete(key);
    this.table.remove(key);
    this.layer4.remove(key);
    this.endpoints.remove(key);
  }
}
