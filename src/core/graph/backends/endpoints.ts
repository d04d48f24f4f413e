import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { type ViewAt } from '../../schema/index.ts';
import { isReadyEndpoint } from '../../semantics/endpoints.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { hash64 } from '../../text/hash.ts';
import { isRemoteAddress } from '../../text/ip-address.ts';
import { backendKey, serviceKinds, type BackendPort, type ServiceKind, type ServiceObject } from './backend-object.ts';
import { numberOfKey, servicePort, transportOfKey, type OfferedPort, type ServicePortKey } from './backends.ts';
import { objectsOf, readObject } from '../inputs.ts';
import { strata } from '../strata.ts';
import { transportOfPort } from '../../semantics/intended.ts';

/** The label of an EndpointSlice that names the object it belongs to. */
export const sliceLabels = {
  Service: 'kubernetes.io/service-name',
  ServiceImport: 'multicluster.kubernetes.io/service-name',
} as const satisfies Record<ServiceKind, string>;

/** The label of an EndpointSlice with pods that an XBackend selects. The controller sets it on the Service that creates the slice. */
export const selectingLabel = 'sallyport.dev/x-backend';

/** The label of such an EndpointSlice with the uid of the XBackend. */
export const selectingUidLabel = 'sallyport.dev/x-backend-uid';

const longestLabelValue = 63;

/** Returns the value of that label: the name of the XBackend. Longer names are shortened, and get a hash that keeps them apart. */
export function selectingLabelValue(name: string): string {
  const hash = hash64(name);
  return name.length <= longestLabelValue ? name : `${name.slice(0, longestLabelValue - hash.length - 1)}-${hash}`;
}

/** EndpointSlices by the backends that they belong to. Bucket: backend key; entry: slice name. */
export const slicesOfService = defineIndex({
  name: 'slicesOfService',
  stratum: strata.objectIndexes,
  over: objectsOf('EndpointSlice'),
  *entries(read, _kind = '', namespace = '', name = '') {
    const labels = readObject(read, 'EndpointSlice', namespace, name)?.meta.labels ?? {};
    for (const kind of serviceKinds) {
      const owner = labels[sliceLabels[kind]];
      if (owner !== undefined) yield { bucket: backendKey({ kind, namespace, name: owner }), entry: name };
    }
    const selecting = labels[selectingLabel];
    if (selecting !== undefined) yield { bucket: selectedBy(namespace, selecting), entry: name };
  },
});

function selectedBy(namespace: string, label: string): string {
  return backendKey({ kind: 'XBackend', namespace, name: label });
}

interface EndpointAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * The sorted, distinct endpoints of a port of a Service or ServiceImport that receive requests: the ready endpoints, or if there are none, the
 * endpoints that are serving while they terminate (KEP-1669), like in kube-proxy.
 */
export const endpoints = defineQuery({
  name: 'endpoints',
  stratum: strata.links,
  compute(read, ...[kind, namespace, name, port]: BackendPort): readonly EndpointAddress[] {
    const found = read.query(servicePort, kind, namespace, name, port);
    if (found.type !== 'port') return [];
    const slices = read.list(slicesOfService, backendKey({ kind, namespace, name }));
    if (slices.length === 0 && kind === 'ServiceImport')
      return clusterSetAddresses(readObject(read, kind, namespace, name), numberOfKey(port));
    return receiving(read, { namespace, slices, portOf: (slice) => slicePort(slice, found) });
  },
});

/**
 * The maximum number of endpoints of all ports of a Service together: each port has its own list of them. Twice as many as the configuration of
 * a Gateway has room for.
 */
export const maxEndpoints = 100_000;

/**
 * The number of endpoints that an EndpointSlice counts as for each port, even if it has fewer. Its list for each port takes about 1 KiB, even
 * if it is empty.
 */
export const minEndpointsOfSlice = 16;

/** Each port of a Service is searched among the ports of a slice. As many of them count as one endpoint. */
const searchedPorts = 16;

/**
 * Whether a Service or ServiceImport may have more endpoints than the limit.
 *
 * @param used the number of its ports that are used
 */
export function hasTooManyEndpoints(read: Reader, { kind, namespace, name }: ServiceObject, used: number): boolean {
  const slices = read.list(slicesOfService, backendKey({ kind, namespace, name }));
  const count = slices.reduce((sum, slice) => {
    const { addresses, ports } = read.query(sliceSize, namespace, slice);
    const ofPort = Math.max(addresses, minEndpointsOfSlice, ports / searchedPorts);
    // A slice without the port is read, too.
    return sum + Math.max(ofPort * Math.min(ports, used), used);
  }, 0);
  return count > maxEndpoints;
}

const sliceSize = defineQuery({
  name: 'sliceSize',
  stratum: strata.links,
  compute(read, namespace: string, name: string): { readonly addresses: number; readonly ports: number } {
    const { endpoints: all = [], ports = [] } = readObject(read, 'EndpointSlice', namespace, name) ?? {};
    return { addresses: all.reduce((sum, { addresses = [] }) => sum + addresses.length, 0), ports: ports.length };
  },
});

/**
 * The sorted, distinct endpoints that an XBackend of type EndpointSelector selects, and that receive requests, like those of a
 * Service (EndpointSelectorBackend: "behaves equivalently to a Service backendRef").
 */
export const selectedEndpoints = defineQuery({
  name: 'selectedEndpoints',
  stratum: strata.links,
  compute(read, namespace: string, name: string, port: ServicePortKey): readonly EndpointAddress[] {
    const [number, protocol] = [numberOfKey(port), transportOfKey(port)];
    const portOf = ({ ports = [] }: Resource<'EndpointSlice'>): number | undefined =>
      ports.some((one) => one.port === number && transportOfPort(one) === protocol) ? number : undefined;
    const slices = read
      .list(slicesOfService, selectedBy(namespace, selectingLabelValue(name)))
      .filter((slice) => isOf(read, { namespace, name, slice }));
    return receiving(read, { namespace, slices, portOf });
  },
});

/**
 * Whether an EndpointSlice with the name of an XBackend in its label belongs to it, and not to a deleted one of the same name:
 * `kubectl delete --cascade=orphan` keeps the Service of an XBackend.
 */
function isOf(
  read: Reader,
  { namespace, name, slice }: { readonly namespace: string; readonly name: string; readonly slice: string },
): boolean {
  const owner = readObject(read, 'EndpointSlice', namespace, slice)?.meta.labels[selectingUidLabel];
  const uid = readObject(read, 'XBackend', namespace, name)?.meta.uid;
  return owner === undefined || uid === undefined || owner === uid;
}

interface SlicesQuestion {
  readonly namespace: string;
  /** Names of the EndpointSlices. */
  readonly slices: readonly string[];
  readonly portOf: (slice: Resource<'EndpointSlice'>) => number | undefined;
}

/** Sorts the addresses of some slices, each once: the ready ones, or if there are none, those that are serving while they terminate. */
function receiving(read: Reader, { namespace, slices, portOf }: SlicesQuestion): readonly EndpointAddress[] {
  const usable = slices.flatMap((name) => {
    const slice = readObject(read, 'EndpointSlice', namespace, name);
    const port = slice && portOf(slice);
    return port === undefined ? [] : [read.query(sliceEndpoints, namespace, name, String(port))];
  });
  const ready = usable.flatMap((slice) => slice.ready);
  const addresses = ready.length > 0 ? ready : usable.flatMap(({ draining }) => draining);
  addresses.sort(byHostAndPort);
  return addresses.filter((address, index) => {
    const before = addresses[index - 1];
    return before === undefined || byHostAndPort(before, address) !== 0;
  });
}

/** The order of the texts. */
function byHostAndPort(one: EndpointAddress, other: EndpointAddress): number {
  if (one.host !== other.host) return one.host < other.host ? -1 : 1;
  if (one.port === other.port) return 0;
  return String(one.port) < String(other.port) ? -1 : 1;
}

/**
 * The addresses of an imported Service without EndpointSlices, which are optional in the Multi-Cluster Services API: the
 * ClusterSet IPs lead to its endpoints (KEP-1645). Headless ones have no ClusterSet IPs.
 */
function clusterSetAddresses(
  imported: Resource<'ServiceImport'> | undefined,
  port: number,
): readonly EndpointAddress[] {
  if (imported?.spec?.type === 'Headless') return [];
  const hosts = new Set((imported?.spec?.ips ?? []).filter(isRemoteAddress));
  return [...hosts].sort().map((host) => ({ host, port }));
}

function slicePort(slice: Resource<'EndpointSlice'>, { name, protocol }: OfferedPort): number | undefined {
  const found = slice.ports?.find((one) => (one.name ?? '') === name && transportOfPort(one) === protocol)?.port;
  return found === undefined || found < 1 || found > 65_535 ? undefined : found;
}

type EndpointConditions = ViewAt<'EndpointSlice', 'endpoints[].conditions'>;

interface SliceEndpoints {
  readonly ready: readonly EndpointAddress[];
  readonly draining: readonly EndpointAddress[];
}

/** The usable addresses of an EndpointSlice, sorted. A change of one slice must not read the endpoints of all others of its Service. */
const sliceEndpoints = defineQuery({
  name: 'sliceEndpoints',
  stratum: strata.links,
  compute(read, namespace: string, name: string, port: string): SliceEndpoints {
    const slice = readObject(read, 'EndpointSlice', namespace, name);
    const usable = { ready: [] as EndpointAddress[], draining: [] as EndpointAddress[] };
    // FQDN slices would require resolving names that the owner of the Service does not control.
    if (slice === undefined || (slice.addressType !== 'IPv4' && slice.addressType !== 'IPv6')) return usable;
    for (const [index, endpoint] of (slice.endpoints ?? []).entries()) {
      const state = stateOf(endpoint.conditions);
      // Absent conditions have a meaning (EndpointSlice API). Unreadable conditions do not.
      if (state === undefined || !isReadable(slice, ['endpoints', index])) continue;
      for (const host of endpoint.addresses ?? [])
        if (isIpAddress(host)) usable[state].push({ host, port: Number(port) });
    }
    usable.ready.sort(byHostAndPort);
    usable.draining.sort(byHostAndPort);
    return usable;
  },
});

/** A ready endpoint is usable regardless of the other conditions. `undefined`: not usable. */
function stateOf(conditions: EndpointConditions = {}): keyof SliceEndpoints | undefined {
  if (isReadyEndpoint(conditions)) return 'ready';
  // Without `serving`, an endpoint serves while it is ready.
  const { serving = false, terminating = false } = conditions;
  return serving && terminating ? 'draining' : undefined;
}
