import type { ConfigKey, ListenerConfig, RouteConfig, RouteRule } from '../core/routing/config.ts';
import type { ChannelResource } from './messages.ts';

/**
 * Parts of the configuration that protect backends. A data plane that does not know such a part ignores it, and would serve without
 * the protection. So each data plane lists in its hello the parts that it applies, and gets no configuration with others. A new part
 * that protects needs a new name here.
 */
export const capabilities = ['listenerFilters', 'externalAuth'] as const;

export type Capability = (typeof capabilities)[number];

/** The problem of a resource that a data plane gets only in a form that rejects requests. */
export const tooOld =
  'The data plane is older than the controller and does not support a filter that protects backends. It rejects the requests. Update the data plane.';

/** Returns the capabilities that are not among those of a hello. Data planes that list none have none. */
export function lacking(announced: readonly string[]): ReadonlySet<Capability> {
  return new Set(capabilities.filter((capability) => !announced.includes(capability)));
}

/** Returns the capability that a data plane needs to serve a resource with its protection; `undefined` if it needs none. */
export function neededFor(resource: ChannelResource): Capability | undefined {
  if (resource.kind === 'listener') return isGuarded(resource) ? 'listenerFilters' : undefined;
  return resource.kind === 'route' && resource.rules.some(needsPermission) ? 'externalAuth' : undefined;
}

/**
 * Returns what a data plane without these capabilities gets instead of a resource: all versions of the data plane reject the requests
 * that it protects. A listener keeps its hostname, and has no routes, because these name it by its own key: requests get a 404. The
 * rules of a route get a failure. Other resources stay as they are.
 */
export function safeFor(missing: ReadonlySet<Capability>, resource: ChannelResource): ChannelResource {
  const needed = neededFor(resource);
  if (needed === undefined || !missing.has(needed)) return resource;
  if (resource.kind === 'listener') return withoutRoutes(resource);
  return resource.kind === 'route' ? withFailures(resource) : resource;
}

/** The keys under which a data plane may hold a resource: its own, and that of a listener without routes. */
export function keysOf(key: ConfigKey): readonly ConfigKey[] {
  return key.startsWith('listener/') ? [key, withoutRoutesKey(key)] : [key];
}

function isGuarded({ filters = [], failure }: ListenerConfig): boolean {
  return filters.length > 0 || failure !== undefined;
}

function needsPermission({ filters }: RouteRule): boolean {
  return filters.some(({ type }) => type === 'authorization');
}

function withoutRoutes({ filters: _filters, failure: _failure, ...listener }: ListenerConfig): ListenerConfig {
  return { ...listener, key: withoutRoutesKey(listener.key) };
}

function withoutRoutesKey(key: ConfigKey): ConfigKey {
  return `${key}/withheld`;
}

function withFailures(route: RouteConfig): RouteConfig {
  return {
    ...route,
    rules: route.rules.map((rule) =>
      needsPermission(rule) ? { ...rule, failure: tooOld, filters: [], backends: [] } : rule,
    ),
  };
}
