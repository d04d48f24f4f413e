import { endpointsKey } from '../graph/backends/endpoints-key.ts';
import { withheldCell, type WithheldFacts } from '../graph/inputs.ts';
import { backendPlacesOf } from '../graph/listeners/listener-filters.ts';
import { servingGateway, type ListenerOwner } from '../graph/listeners/listener-sets.ts';
import type { ServedRouteKind } from '../graph/protocols.ts';
import { withheldBy } from '../graph/withheld.ts';
import type { Reader } from '../incremental/reader.ts';
import { qualifiedName } from '../resources/reference.ts';
import type { Resource } from '../resources/resource.ts';
import { quote } from '../text/display.ts';
import { isFalse, joinMessages, type Outcome } from './conditions.ts';

// The limits for the configuration of a Gateway. Only the controller knows what exceeds them.

const reason = 'ConfigurationTooLarge';

/** Returns the condition Accepted of a route that does not fit into the configuration of the Gateway that serves an owner of listeners. */
export function withheldRoute(
  read: Reader,
  route: Resource<ServedRouteKind>,
  owner: ListenerOwner,
): Outcome | undefined {
  const withheld = withheldBy(read, route, owner);
  if (withheld === undefined) return undefined;
  const { gateway, facts } = withheld;
  const { namespace } = route.ref;
  return isFalse(
    reason,
    `The route is not served by Gateway ${quote(qualifiedName(gateway))}, because it needs ${sizeOf(facts)} of configuration, and the older routes of namespace ${quote(namespace)} use its share. All routes of the Gateway together may have ${limitOf(facts)}, in equal shares for namespaces. Use fewer rules, hostnames or parentRefs, remove other routes of the namespace, or attach the route to another Gateway.`,
  );
}

/** Returns the condition ResolvedRefs of a route with backends whose endpoints do not fit into the configuration of the same Gateway. */
export function withheldBackends(
  read: Reader,
  { kind, ref: { namespace, name } }: Resource<ServedRouteKind>,
  owner: ListenerOwner,
): Outcome | undefined {
  const gateway = servingGateway(read, owner);
  if (gateway === undefined) return undefined;
  const messages = backendPlacesOf(read, { kind, namespace, name }, ['service']).flatMap(({ outcome }) => {
    const facts = read.input(withheldCell, gateway.namespace, gateway.name, outcome.namespace);
    const own = facts?.[endpointsKey(outcome, outcome.port)];
    return own === undefined
      ? []
      : [
          `Requests to ${outcome.kind} ${quote(qualifiedName(outcome))} fail at Gateway ${quote(qualifiedName(gateway))}, because the endpoints of port ${outcome.port} need ${sizeOf(own)} of memory in its data plane, and others of the namespace use its share. All endpoints of the Gateway together may have ${limitOf(own)}, in equal shares for namespaces. Use fewer backends, ports or CA certificates, or another Gateway.`,
        ];
  });
  return messages.length === 0 ? undefined : isFalse(reason, joinMessages(messages));
}

function sizeOf({ bytes }: WithheldFacts): string {
  return `${Math.ceil(bytes / 2 ** 10)} KiB`;
}

function limitOf({ limit }: WithheldFacts): string {
  return `${Math.round(limit / 2 ** 20)} MiB`;
}
