import { withheldCell, type WithheldFacts } from './inputs.ts';
import { servingGateway, type ListenerOwner } from './listeners/listener-sets.ts';
import { routeIdentity } from './matches/precedence.ts';
import type { ServedRouteKind } from './protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';

/** Returns the facts about a route that does not fit into the configuration of the Gateway that serves an owner of listeners. */
export function withheldFacts(
  read: Reader,
  route: Resource<ServedRouteKind>,
  owner: ListenerOwner,
): WithheldFacts | undefined {
  const gateway = servingGateway(read, owner);
  if (gateway === undefined) return undefined;
  const withheld = read.input(withheldCell, gateway.namespace, gateway.name, route.ref.namespace);
  return withheld?.[routeIdentity(route).key];
}
