import { defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { gatewayGroup, type ViewAt } from '../../schema/index.ts';
import {
  backendKindOf,
  portAbsent,
  type BackendObject,
  type BackendPort,
  type PortAbsent,
  type ServiceKind,
  type ServiceObject,
} from './backend-object.ts';
import { canForward, needsTls } from './app-protocols.ts';
import { policyInForce } from './backend-policies.ts';
import { mayRefer } from '../grants.ts';
import { readObject } from '../inputs.ts';
import { mayBelongUnobserved, whyNotFound, type NotFound, type Unobserved } from '../observed.ts';
import { isLayer4, transportOf, type ServedRouteKind, type Transport } from '../protocols.ts';
import type { FilterView } from '../route-views.ts';
import type { Path } from '../../resources/path.ts';
import { strata } from '../strata.ts';
import { portOfXBackend } from './x-backends.ts';
import { backendGroupKind, transportOfPort } from '../../semantics/intended.ts';

/** A backendRef with defaults. */
export interface BackendTarget {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly port?: number;
}

/** The outcome of resolving a backendRef. */
export type BackendOutcome =
  | ({ readonly type: 'service'; readonly port: ServicePortKey } & BackendObject)
  | { readonly type: 'unsupportedKind' }
  /** The CRD of the kind is not installed. */
  | { readonly type: 'notInstalled' }
  | { readonly type: 'notPermitted' }
  | { readonly type: 'absent' }
  /** It is unknown here whether the backend can be used, because these objects are not observed. */
  | ({ readonly type: 'unobserved' } & Unobserved)
  | { readonly type: 'portMissing' }
  | PortAbsent
  /** `needed` is set if the transport of the port differs from the transport of the route kind. */
  | { readonly type: 'unsupportedProtocol'; readonly protocol: string; readonly needed?: Transport }
  /** The port expects TLS, but no BackendTLSPolicy defines how to verify the backend. */
  | { readonly type: 'policyMissing'; readonly protocol: string }
  | { readonly type: 'externalName' };

export interface BackendNode {
  readonly target: BackendTarget;
  readonly outcome: BackendOutcome;
}

/** The backends of filters of one type: position of the filter in its list → backend. */
export type FilterBackends = Readonly<Record<number, BackendNode>>;

/** The backends of one rule of a route. */
export interface RuleBackends {
  /** In the order of spec.rules[].backendRefs, each with the RequestMirrors among its own filters. */
  readonly backends: readonly (BackendNode & { readonly mirrors: FilterBackends })[];
  /** The RequestMirror filters of the rule. */
  readonly mirrors: FilterBackends;
  /** The ExternalAuth filters of the rule. */
  readonly authorizers: FilterBackends;
}

type BackendRefView = ViewAt<'HTTPRoute', 'spec.rules[].backendRefs[]'>;

/** A port of a Service or XBackend in the notation of routes: `80`, or `53/UDP` for kinds that forward datagrams. */
export type ServicePortKey = string;

/** Returns the key of a Service port for routes of a kind. */
function portKey(port: number, routeKind: string): ServicePortKey {
  const transport = transportOf(routeKind);
  return transport === 'TCP' ? String(port) : `${port}/${transport}`;
}

/** Returns the number of a port in the notation of routes. */
export function numberOfKey(key: ServicePortKey): number {
  return Number.parseInt(key, 10);
}

/** Returns the transport of a port in the notation of routes. */
export function transportOfKey(key: ServicePortKey): Transport {
  return key.endsWith('/UDP') ? 'UDP' : 'TCP';
}

/** One port of a Service without its other fields, so that other changes of the Service do not cause re-evaluation. */
export type ServicePort = NotFound | { readonly type: 'externalName' } | PortAbsent | OfferedPort;

/** A port that a Service has. */
export interface OfferedPort {
  readonly type: 'port';
  readonly name: string;
  readonly protocol: string;
  readonly appProtocol?: string;
}

export const servicePort = defineQuery({
  name: 'servicePort',
  stratum: strata.links,
  compute(read, ...[kind, namespace, name, key]: BackendPort): ServicePort {
    const service = readObject(read, kind, namespace, name);
    if (service === undefined) return whyNotFound(read, kind, namespace);
    // CVE-2021-25740: forwarding to an ExternalName would let a route reach any host that the name resolves to.
    if (service.spec?.type === 'ExternalName') return { type: 'externalName' };
    const ports = service.spec?.ports ?? [];
    const number = numberOfKey(key);
    const ofNumber = ports.filter((one) => one.port === number);
    // TCP and UDP ports may have the same number, as for DNS.
    const found = ofNumber.find((one) => transportOfPort(one) === transportOfKey(key)) ?? ofNumber[0];
    if (found === undefined) return portAbsent(ports);
    return {
      type: 'port',
      name: found.name ?? '',
      protocol: transportOfPort(found),
      ...(found.appProtocol === undefined ? {} : { appProtocol: found.appProtocol }),
    };
  },
});

/** The names of the ports of a Service; `undefined` if it does not exist. Thousands of targets of policies may name other ports. */
export const portNames = defineQuery({
  name: 'portNames',
  stratum: strata.links,
  compute(read, kind: ServiceKind, namespace: string, name: string): ReadonlySet<string> | undefined {
    const service = readObject(read, kind, namespace, name);
    return service && new Set((service.spec?.ports ?? []).flatMap((port) => port.name ?? []));
  },
});

/** Resolves one backendRef of an object of `fromKind` in `fromNamespace`: of a route, or of a filter of a listener. */
export function resolveBackend(
  read: Reader,
  fromKind: string,
  fromNamespace: string,
  ref: BackendRefView,
): BackendNode {
  const target: BackendTarget = {
    ...backendGroupKind(ref),
    namespace: ref.namespace ?? fromNamespace,
    name: ref.name ?? '',
    ...(ref.port === undefined ? {} : { port: ref.port }),
  };
  return { target, outcome: resolveTarget(read, fromKind, fromNamespace, target) };
}

function resolveTarget(read: Reader, fromKind: string, fromNamespace: string, target: BackendTarget): BackendOutcome {
  const { namespace, name } = target;
  const kind = backendKindOf(target);
  if (kind === undefined) return { type: 'unsupportedKind' };
  if (kind !== 'XBackend') return resolveService(read, { fromKind, fromNamespace, kind }, target);
  const found = portOfXBackend(read, { kind: fromKind, namespace: fromNamespace }, target);
  return typeof found === 'number' ? { type: 'service', kind, namespace, name, port: portKey(found, fromKind) } : found;
}

interface ServiceReference {
  readonly fromKind: string;
  readonly fromNamespace: string;
  /** The kind of the target. */
  readonly kind: ServiceKind;
}

function resolveService(
  read: Reader,
  { fromKind, fromNamespace, kind }: ServiceReference,
  { group, namespace, name, port }: BackendTarget,
): BackendOutcome {
  if (!mayRefer(read, [gatewayGroup, fromKind, fromNamespace, group, kind, namespace, name])) {
    return mayHave(read, 'ReferenceGrant', { kind, namespace, name })
      ? { type: 'unobserved', kind: 'ReferenceGrant', namespace }
      : { type: 'notPermitted' };
  }
  // The port of other kinds may be optional (BackendObjectReference.port). A ServiceImport has no default either.
  if (port === undefined && kind === 'Service') return { type: 'portMissing' };
  const key = port === undefined ? '' : portKey(port, fromKind);
  const found = read.query(servicePort, kind, namespace, name, key);
  if (found.type !== 'port') return found;
  const needed = transportOf(fromKind);
  if (found.protocol !== needed) return { type: 'unsupportedProtocol', protocol: found.protocol, needed };
  const resolved: BackendOutcome = { type: 'service', kind, namespace, name, port: key };
  // Connections and datagrams are forwarded regardless of their protocol.
  if (isLayer4(fromKind)) return resolved;
  if (found.appProtocol !== undefined && !canForward(fromKind, found.appProtocol))
    return { type: 'unsupportedProtocol', protocol: found.appProtocol };
  // The port would not respond in plain text. A BackendTLSPolicy defines how to connect.
  if (
    found.appProtocol !== undefined &&
    needsTls(found.appProtocol) &&
    policyInForce(read, { kind, namespace, name }, found.name) === undefined
  )
    return mayHave(read, 'BackendTLSPolicy', { kind, namespace, name })
      ? { type: 'unobserved', kind: 'BackendTLSPolicy', namespace }
      : { type: 'policyMissing', protocol: found.appProtocol };
  return resolved;
}

/** Whether a Service may have grants or policies that are not observed here. */
function mayHave(
  read: Reader,
  kind: 'ReferenceGrant' | 'BackendTLSPolicy',
  { kind: ofKind, namespace, name }: ServiceObject,
): boolean {
  return mayBelongUnobserved(read, kind, { kind: ofKind, namespace }, () => readObject(read, ofKind, namespace, name));
}

/** The parts of a rule that reference backends. Layer 4 rules have no filters. */
type ForwardingRule = ViewAt<'HTTPRoute', 'spec.rules[]'>;

/** The backends of the rules of a route, in the order of the specification. */
export const backends = defineQuery({
  name: 'backends',
  stratum: strata.links,
  compute(read, kind: string, namespace: string, name: string): readonly RuleBackends[] {
    const rules: readonly ForwardingRule[] =
      readObject(read, kind as ServedRouteKind, namespace, name)?.spec?.rules ?? [];
    const resolve = (ref: BackendRefView): BackendNode => resolveBackend(read, kind, namespace, ref);
    return rules.map(({ backendRefs, filters }) => ({
      backends: (backendRefs ?? []).map((ref) => ({
        ...resolve(ref),
        mirrors: backendsOfFilters(ref.filters, 'requestMirror', resolve),
      })),
      mirrors: backendsOfFilters(filters, 'requestMirror', resolve),
      authorizers: backendsOfFilters(filters, 'externalAuth', resolve),
    }));
  },
});

const noBackends: FilterBackends = {};
/** Filters that reference a backend: field of the filter → type of the filter. */
const referringFilters = { requestMirror: 'RequestMirror', externalAuth: 'ExternalAuth' } as const;

/** Resolves the backends of the filters of one type. */
export function backendsOfFilters(
  filters: readonly FilterView[] | undefined,
  member: keyof typeof referringFilters,
  resolve: (ref: BackendRefView) => BackendNode,
): FilterBackends {
  let found: Record<number, BackendNode> | undefined;
  filters?.forEach((filter, index) => {
    if (filter.type === referringFilters[member]) (found ??= {})[index] = resolve(filter[member]?.backendRef ?? {});
  });
  return found ?? noBackends;
}

export type BackendOutcomeOf<T extends BackendOutcome['type']> = Extract<BackendOutcome, { readonly type: T }>;

/** A backend of a route, and its location in the object. */
export interface BackendPlace<T extends BackendOutcome['type']> {
  readonly path: Path;
  readonly node: BackendNode;
  readonly outcome: BackendOutcomeOf<T>;
}

/**
 * Returns the backends of the rules that resolve with one of the given outcomes. Paths are created only for these, because most
 * rules look for rare outcomes.
 */
export function backendPlaces<T extends BackendOutcome['type']>(
  rules: readonly RuleBackends[],
  types: readonly T[],
): readonly BackendPlace<T>[] {
  const places: BackendPlace<T>[] = [];
  rules.forEach(({ backends: nodes, mirrors, authorizers }, rule) => {
    const filters = (): Path => ['spec', 'rules', rule, 'filters'];
    nodes.forEach((node, index) => {
      const at = (): Path => ['spec', 'rules', rule, 'backendRefs', index];
      if (isOneOf(node.outcome, types)) places.push({ path: at(), node, outcome: node.outcome });
      if (node.mirrors !== noBackends) places.push(...mirrorPlaces(node.mirrors, types, () => [...at(), 'filters']));
    });
    if (mirrors !== noBackends) places.push(...mirrorPlaces(mirrors, types, filters));
    if (authorizers !== noBackends) places.push(...authorizerPlaces(authorizers, types, filters));
  });
  return places;
}

const noPlaces: readonly never[] = [];

type FilterPlaces = <T extends BackendOutcome['type']>(
  nodes: FilterBackends,
  types: readonly T[],
  at: () => Path,
) => readonly BackendPlace<T>[];

/** Creates the function that returns the backends of filters of one type. `at` is the location of the list of filters. */
function placesIn(member: keyof typeof referringFilters): FilterPlaces {
  return (nodes, types, at) => {
    if (nodes === noBackends) return noPlaces;
    return Object.entries(nodes).flatMap(([filter, node]) =>
      isOneOf(node.outcome, types)
        ? [{ path: [...at(), Number(filter), member, 'backendRef'], node, outcome: node.outcome }]
        : [],
    );
  };
}

const mirrorPlaces = placesIn('requestMirror');
/** Returns the authorization servers that resolve with one of the given outcomes. `at` is the location of the list of filters. */
export const authorizerPlaces = placesIn('externalAuth');

function isOneOf<T extends BackendOutcome['type']>(
  outcome: BackendOutcome,
  types: readonly T[],
): outcome is BackendOutcomeOf<T> {
  return (types as readonly string[]).includes(outcome.type);
}
