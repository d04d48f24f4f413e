import { gatewayGroup, type ViewAt } from '../../schema/index.ts';
import { conflictBetween, ListenerClaims, type ListenerClaim } from '../../semantics/listeners.ts';
import { display } from '../../text/display.ts';
import { hostnameKey, intersectHostnames } from '../../text/hostname.ts';
import { demand } from '../engine/demand.ts';
import { listenerConflict } from './listener-conflict.ts';
import { listenerRouteKindsInvalid } from './listener-route-kinds-invalid.ts';
import { listenerTlsOverlap } from './listener-tls-overlap.ts';
import { allowedGroupKind } from '../../semantics/intended.ts';

// Demands on all listeners of one object, regardless of its controller. For objects that Sallyport serves, the same rules also
// run with the graph, which includes other objects. Duplicate findings are removed.

type Listener = ViewAt<'Gateway', 'spec.listeners[]'>;

type Listeners = readonly Listener[];

/** Returns the first listener before `index` with the same port that meets a condition. */
function earlier(
  listeners: Listeners,
  index: number,
  condition: (one: Listener, other: Listener) => boolean,
): Listener | undefined {
  const listener = listeners[index];
  if (listener?.port === undefined) return undefined;
  return listeners.slice(0, index).find((other) => other.port === listener.port && condition(listener, other));
}

function sameHostname(one: Listener, other: Listener): boolean {
  return hostnameKey(one.hostname ?? '') === hostnameKey(other.hostname ?? '');
}

/** Every bundle already rejects equal protocols with equal hostnames. */
export const protocolsOnPort = demand(
  listenerConflict,
  function judge(listeners: Listeners, report) {
    const earlierOnes = new ListenerClaims<NamedClaim>();
    for (const [index, { name = '', port, protocol = '', hostname = '' }] of listeners.entries()) {
      if (port === undefined) continue;
      const claim = { name, port, protocol, hostname };
      const conflict = earlierOnes.conflictsOf(claim, 1);
      earlierOnes.add(claim);
      const [other] = conflict?.reason === 'ProtocolConflict' ? conflict.others : [];
      if (other === undefined) continue;
      const cure = distinctByHostname(claim, other) ? 'ports or hostnames' : 'ports';
      report({
        below: [index],
        value: display(name),
        message: `Listener conflicts with ${display(other.name)}: protocols ${display(protocol)} and ${display(other.protocol)} cannot share port ${port}, so neither is accepted. Use distinct ${cure}.`,
      });
    }
  },
  'within one object',
);

interface NamedClaim extends ListenerClaim {
  readonly name: string;
}

/** Returns whether a different hostname is enough to make two listeners distinct. */
function distinctByHostname(one: ListenerClaim, other: ListenerClaim): boolean {
  return conflictBetween({ ...one, hostname: `other.${one.hostname ?? ''}` }, other) === undefined;
}

function overlaps(one: Listener, other: Listener): boolean {
  return (
    one.protocol === 'HTTPS' &&
    other.protocol === 'HTTPS' &&
    !sameHostname(one, other) &&
    intersectHostnames(one.hostname ?? '', other.hostname ?? '') !== undefined
  );
}

export const overlapsOnPort = demand(
  listenerTlsOverlap,
  function judge(listeners: Listeners, report) {
    for (const [index, listener] of listeners.entries()) {
      const other = earlier(listeners, index, overlaps);
      if (other === undefined) continue;
      report({
        below: [index, 'hostname'],
        value: display(listener.hostname ?? ''),
        message: `Hostname overlaps with ${display(other.name ?? '')} on port ${listener.port}: a client that reuses a connection may get the TLS settings of the other listener. Use hostnames that do not overlap, or use equal TLS settings.`,
      });
    }
  },
  'within one object',
);

/** The route kinds that other implementations may support on these protocols. */
const carried: ReadonlyMap<string, readonly string[]> = new Map([
  ['TLS', ['TLSRoute', 'TCPRoute']],
  ['TCP', ['TCPRoute']],
  ['UDP', ['UDPRoute']],
]);

export const kindsOfProtocol = demand(
  listenerRouteKindsInvalid,
  function judge({ protocol = '', allowedRoutes: { kinds = [] } = {} }: Listener, report) {
    const supported = carried.get(protocol);
    if (supported === undefined) return;
    for (const [index, { group, kind }] of kinds.map(allowedGroupKind).entries()) {
      // Kinds of other groups depend on their implementation.
      if (group !== gatewayGroup || supported.includes(kind)) continue;
      report({
        below: ['allowedRoutes', 'kinds', index],
        value: display(kind),
        message: `Unsupported route kind ${display(kind)} for protocol ${protocol}. Use only ${supported.join(', ')}, or remove kinds.`,
      });
    }
  },
  'other protocols',
);
