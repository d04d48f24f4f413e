import type { NamedObject } from '../admission/impact.ts';
import { isOwnerKind, servingGateway } from '../graph/listeners/listener-sets.ts';
import type { Reader } from '../incremental/reader.ts';
import { describeRef } from '../resources/reference.ts';
import type { ConfigKey, ConfigResource, Layer4RouteConfig, RouteAttachment, RouteConfig } from '../routing/config.ts';
import { configuredListener, gatewayOfListener } from '../routing/listener-key.ts';
import { takenMatches } from '../rules/matches/match-places.ts';

// A route can have 131,072 matches at hostnames and listeners. A sentence about it names three of them, so few are compared.

/** The maximum number of matches at hostnames and listeners that are compared, but at least all matches at one hostname and listener. */
const maxCompared = 64;

/** The hostnames of a route that are compared, by listener. */
type Places = ReadonlyMap<ConfigKey, ReadonlySet<string>>;

/** Selects the places where a route is compared, from its configuration in each state. */
export function comparedPlaces(states: readonly (readonly ConfigResource[])[]): {
  readonly places: Places;
  /** Whether the route has others. */
  readonly isPartial: boolean;
} {
  const routes = states.flat().filter((one) => isRoute(one));
  const matches = Math.max(1, ...routes.map(matchCount));
  let left = Math.max(1, Math.floor(maxCompared / matches));
  const places = new Map<ConfigKey, Set<string>>();
  for (const { listener, hostnames } of routes.flatMap(({ attachments }) => attachments)) {
    for (const hostname of hostnames) {
      const known = places.get(listener);
      if (known?.has(hostname) === true) continue;
      if (left === 0) return { places, isPartial: true };
      left -= 1;
      places.set(listener, (known ?? new Set()).add(hostname));
    }
  }
  return { places, isPartial: false };
}

type Route = RouteConfig | Layer4RouteConfig;

function isRoute(resource: ConfigResource): resource is Route {
  return resource.kind === 'route' || resource.kind === 'layer4Route';
}

function matchCount(route: Route): number {
  return route.kind === 'route' ? route.rules.reduce((sum, { matches }) => sum + matches.length, 0) : 1;
}

/** A route with matches that are equal to some of another route, and take precedence. */
interface Winner extends NamedObject {
  /** `rule match`. */
  readonly matches: ReadonlySet<string>;
}

/** Returns the routes that get requests of a route at these places, because their equal matches take precedence. */
export function winnersAt(read: Reader, route: NamedObject, places: Places): readonly Winner[] {
  const winners = new Map<string, Winner & { readonly matches: Set<string> }>();
  for (const { owner, listener, hostname, winner } of read.query(
    takenMatches,
    route.kind,
    route.namespace,
    route.name,
  )) {
    const { kind } = owner;
    const gateway = isOwnerKind(kind) ? servingGateway(read, { ...owner, kind }) : undefined;
    if (gateway === undefined || !isOwnerKind(kind)) continue;
    if (places.get(configuredListener(gateway, { ...owner, kind }, listener))?.has(hostname) !== true) continue;
    const known = winners.get(describeRef(winner)) ?? { ...winner, matches: new Set() };
    winners.set(describeRef(winner), known);
    known.matches.add(`${winner.rule} ${winner.match}`);
  }
  return [...winners.values()];
}

/** Returns the part of a resource of an object that matters at some places: matches there, and listeners of their Gateways. */
export function comparedPart(
  resource: ConfigResource,
  object: NamedObject | Winner,
  places: Places,
): readonly ConfigResource[] {
  if (resource.kind === 'endpoints') return [];
  if (resource.kind === 'listener') {
    const gateways = new Set([...places.keys()].map(gatewayOfListener));
    return gateways.has(resource.gateway) ? [resource] : [];
  }
  const attachments = attachmentsAt(resource.attachments, places);
  if (attachments.length === 0) return [];
  if (resource.kind === 'layer4Route' || !('matches' in object)) return [{ ...resource, attachments }];
  const rules = resource.rules
    .map((rule) => ({
      ...rule,
      matches: rule.matches.filter(({ index }) => object.matches.has(`${rule.index} ${index}`)),
    }))
    .filter(({ matches }) => matches.length > 0);
  return [{ ...resource, attachments, rules }];
}

function attachmentsAt(attachments: readonly RouteAttachment[], places: Places): readonly RouteAttachment[] {
  return attachments
    .map(({ listener, hostnames }) => ({
      listener,
      hostnames: hostnames.filter((hostname) => places.get(listener)?.has(hostname) === true),
    }))
    .filter(({ hostnames }) => hostnames.length > 0);
}
