import { withheldCell, type WithheldFacts } from './inputs.ts';
import { servingGateway, type ListenerOwner } from './listeners/listener-sets.ts';
import { routeIdentity } from './matches/precedence.ts';
import type { ServedRouteKind } from './protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import type { Resource } from '../resources/resource.ts';

/** A route that does not fit into the configuration of a Gateway. */
interface Withheld {
  readonly gateway: { readonly namespace: string; readonly name: string };
  readonly facts: WithheldFacts;
}

/** Returns why a route is not served by the Gateway of an owner of listeners; `undefined` if it is. */
export function withheldBy(read: Reader, route: Resource<ServedRouteKind>, owner: ListenerOwner): Withheld | undefined {
  const gateway = servingGateway(read, owner);
  if (gateway === undefined) return undefined;
  const withheld = read.input(withheldCell, gateway.namespace, gateway.name, route.ref.namespace);
  const facts = withheld?.[routeIdentity(route).key];
  return facts && { gateway, facts };
}
