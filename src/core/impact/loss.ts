import type { BrokenObject, NamedObject } from '../admission/impact.ts';
import { attachedOwners, attachments } from '../graph/attachment.ts';
import { isOwnerKind, servingGateway, type ListenerOwner } from '../graph/listeners/listener-sets.ts';
import { listenersOf, type ListenerNode } from '../graph/listeners/listeners.ts';
import { failureOf, isLayer4, servedRouteKinds, type ServedRouteKind } from '../graph/protocols.ts';
import type { Reader } from '../incremental/reader.ts';
import { describeRef, qualifiedName } from '../resources/reference.ts';
import { endpointsOf, type ConfigKey, type ConfigResource, type ListenerConfig } from '../routing/config.ts';
import { refusals, type Refusal } from '../routing/decision/refusals.ts';
import { configuration } from '../routing/emit.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { display } from '../text/display.ts';
import type { Steps } from '../text/steps.ts';
import { comparedPart, comparedPlaces, winnersAt } from './compared-places.ts';
import { compareRouting, type RoutedSummary } from './routing.ts';

/**
 * Returns the sentence about an object that breaks, with the requests or connections that it no longer serves; `undefined` if
 * there are none, or if they are unknown.
 *
 * @param subject the beginning of the sentence, as returned by `changeOf`
 */
export function* lossSentence(subject: string, broken: BrokenObject, states: States): Steps<string | undefined> {
  const { kind, namespace, name } = broken;
  if (isOwnerKind(kind))
    return listenerSentence(subject, broken, listenersOf(states.after(), { kind, namespace, name }));
  if (!isRouteKind(kind)) return undefined;
  const losses = yield* lossesOf({ ...broken, kind }, states);
  if (losses.all.length === 0) return undefined;
  const verb = verbOf(broken, states.before(), losses.all);
  return fitted((places) => `${subject} ${verb}: ${lossText(losses, kind, places)}.`);
}

/** The evaluation before a change and after it. Called in each step, because the state may change between steps. */
export interface States {
  readonly before: () => Reader;
  readonly after: () => Reader;
}

/**
 * Returns the sentence about a route that is deleted together with its namespace, although a Gateway of another namespace serves it;
 * `undefined` if it gets no requests.
 *
 * @param subject the beginning of the sentence, as returned by `changeOf`
 */
export function* deletionSentence(subject: string, route: NamedObject, states: States): Steps<string | undefined> {
  const { kind } = route;
  const gateway = gatewayElsewhere(states.before(), route);
  if (!isRouteKind(kind) || gateway === undefined) return undefined;
  const losses = yield* lossesOf({ ...route, kind }, states);
  return losses.all.length === 0
    ? undefined
    : fitted((places) => `${subject} deletes ${describeRef(route)} of ${gateway}: ${lossText(losses, kind, places)}.`);
}

/** Returns a Gateway of another namespace that serves a route, such as `Gateway infra/public`; `undefined` for other objects. */
export function gatewayElsewhere(read: Reader, route: NamedObject): string | undefined {
  if (!isRouteKind(route.kind)) return undefined;
  const owners = attachedOwners(read, route.kind, route.namespace, route.name);
  const gateways = owners.flatMap((owner) => servingGateway(read, owner) ?? []);
  const found = gateways.find(({ namespace }) => namespace !== route.namespace);
  return found && describeRef({ ...found, kind: 'Gateway' });
}

function isRouteKind(kind: string): kind is ServedRouteKind {
  return (servedRouteKinds as readonly string[]).includes(kind);
}

/** The number of characters that the API server shows of a warning, without the mark of the warning. */
const longest = 256 - '[impact] '.length;
/** The maximum number of hostnames, paths or listeners in a sentence. */
const maxPlaces = 3;

/** Returns the sentence with the most places that fits into a warning. */
function fitted(sentenceWith: (places: number) => string): string {
  for (let places = maxPlaces; places > 1; places--) {
    const sentence = sentenceWith(places);
    if (sentence.length <= longest) return sentence;
  }
  return sentenceWith(1);
}

function listed(all: readonly string[], most: number, isPartial = false): string {
  const more = all.length - most;
  if (more <= 0) return all.join(', ');
  return `${all.slice(0, most).join(', ')} and ${isPartial ? 'at least ' : ''}${more} more`;
}

/** The handling of some requests after the change. */
interface Loss {
  readonly place: string;
  /** `will get 500`, `will be reset`. */
  readonly fate: string;
  /** `1 of 2 ` if only a part of the requests is lost. */
  readonly share: string;
}

/** The requests or connections that a route served before, and that are lost. */
interface Losses {
  readonly all: readonly Loss[];
  /** Whether there may be others: the route has more matches, hostnames and listeners than are compared. */
  readonly isPartial: boolean;
}

function* lossesOf(route: NamedObject & { readonly kind: ServedRouteKind }, states: States): Steps<Losses> {
  const { places, isPartial } = comparedPlaces([
    resourcesOf(states.before(), route),
    resourcesOf(states.after(), route),
  ]);
  // An equal match of an older route gets the requests instead, so they are not lost.
  const winners = winnersAt(states.before(), route, places);
  const around = new Map([...ownersOf(states.before(), route), ...ownersOf(states.after(), route)]);
  const before: ConfigResource[] = [];
  const after: ConfigResource[] = [];
  for (const object of [...around.values(), route, ...winners]) {
    yield;
    before.push(...resourcesOf(states.before(), object).flatMap((one) => comparedPart(one, object, places)));
    after.push(...resourcesOf(states.after(), object).flatMap((one) => comparedPart(one, object, places)));
  }
  yield;
  const { changes } = compareRouting(configurationWith(before), configurationWith(after));
  const all = changes.flatMap(({ place, after: summary }) => {
    const fate = fateOf(summary, route.kind);
    return fate === undefined ? [] : [{ place, ...fate }];
  });
  return { all, isPartial };
}

function ownersOf(read: Reader, { kind, namespace, name }: NamedObject): readonly (readonly [string, ListenerOwner])[] {
  return attachedOwners(read, kind, namespace, name).map((owner) => [describeRef(owner), owner] as const);
}

function resourcesOf(read: Reader, { kind, namespace, name }: NamedObject): readonly ConfigResource[] {
  return [...configuration.emit(read, kind, namespace, name)].map(({ value }) => value);
}

/** A configuration as if certificates and endpoints existed. */
function configurationWith(parts: readonly ConfigResource[]): ReadonlyMap<ConfigKey, ConfigResource> {
  const resources = parts.map((part) => (part.kind === 'listener' ? withCertificate(part) : part));
  const endpoints = resources
    .flatMap((resource) => (resource.kind === 'endpoints' ? [] : endpointsOf(resource)))
    .map((key): ConfigResource => ({ kind: 'endpoints', key, addresses: [{ host: '', port: 0 }] }));
  return new Map([...resources, ...endpoints].map((resource) => [resource.key, resource]));
}

/** Secrets are mostly unobserved, and a listener without certificates has its own sentence. */
function withCertificate(listener: ListenerConfig): ListenerConfig {
  return { ...listener, certificates: [''] };
}

/** Returns the fate of requests that are not served; `undefined` for served ones. */
function fateOf(summary: RoutedSummary, kind: ServedRouteKind): Omit<Loss, 'place'> | undefined {
  const { decision, reason, shares } = summary;
  if (decision === 'none') return { share: '', fate: 'will not be accepted' };
  if (reason !== undefined) return { share: '', fate: fateFor(reason, kind) };
  const lost = shares.filter((share) => share.reason !== undefined);
  const [first] = lost;
  if (first?.reason === undefined) return undefined;
  const weight = lost.reduce((sum, share) => sum + share.weight, 0);
  return {
    share: weight === first.total ? '' : `${weight} of ${first.total} `,
    fate: fateFor(first.reason, kind),
  };
}

function fateFor(reason: string, kind: ServedRouteKind): string {
  const { status } = refusals[reason as Refusal];
  if (isLayer4(kind)) return `will be ${failureOf[kind].fate}`;
  if (kind === 'HTTPRoute') return `will get ${status}`;
  // "HTTP to gRPC Status Code Mapping".
  return `will get ${status === refusals['no-route'].status ? 'UNIMPLEMENTED' : 'UNAVAILABLE'}`;
}

function verbOf({ findings: [finding], ...route }: BrokenObject, before: Reader, losses: readonly Loss[]): string {
  const object = describeRef(route);
  if (isAboutBackend(finding))
    return `leaves ${object} without ${losses.every(({ share }) => share === '') ? 'a backend' : 'one of its backends'}`;
  const [, list, index] = finding.path;
  const parent =
    list === 'parentRefs' && typeof index === 'number'
      ? before.query(attachments, route.kind, route.namespace, route.name)[index]?.parent
      : undefined;
  return parent === undefined ? `breaks ${object}` : `detaches ${object} from ${describeRef(parent)}`;
}

function isAboutBackend({ path }: Finding): boolean {
  return path[1] === 'rules' && path[3] === 'backendRefs' && path.length === 5;
}

function lossText({ all, isPartial }: Losses, kind: ServedRouteKind, places: number): string {
  const { traffic } = failureOf[kind];
  const preposition = traffic === 'requests' ? 'for' : 'to';
  return [...Map.groupBy(all, ({ share, fate }) => `${share} ${fate}`).values()]
    .flatMap((equal) => {
      const [first] = equal;
      if (first === undefined) return [];
      const distinct = [...new Set(equal.map(({ place }) => place))];
      return [`${first.share}${traffic} ${preposition} ${listed(distinct, places, isPartial)} ${first.fate}`];
    })
    .join('; ');
}

/** Returns the sentence about listeners that lose their last certificate. */
function listenerSentence(
  subject: string,
  { findings, ...owner }: BrokenObject,
  listeners: readonly ListenerNode[],
): string | undefined {
  const positions = new Set(findings.filter(isAboutCertificate).map(({ path }) => path[2]));
  const bare = listeners.filter(
    ({ index, certificates }) =>
      positions.has(index) && !certificates.some(({ type }) => type === 'usable' || type === 'unobserved'),
  );
  if (bare.length === 0) return undefined;
  const names = bare.map(({ name }) => display(name));
  const hosts = [...new Set(bare.map(({ hostname }) => (hostname === undefined ? 'any host' : display(hostname))))];
  return fitted(
    (places) =>
      `${subject} leaves listener${names.length === 1 ? '' : 's'} ${listed(names, places)} of ${owner.kind} ${qualifiedName(owner)} without a certificate: TLS connections for ${listed(hosts, places)} will be closed.`,
  );
}

function isAboutCertificate({ path }: Finding): boolean {
  return path[1] === 'listeners' && path[4] === 'certificateRefs';
}
