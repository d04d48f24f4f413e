import { defineIndex, defineQuery } from '../../incremental/index.ts';
import type { Reader } from '../../incremental/reader.ts';
import { isLost, type Resource } from '../../resources/resource.ts';
import { hostnameKey, widerHostnames } from '../../text/hostname.ts';
import { canonicalSpelling } from '../../text/path.ts';
import { formatSelector, selectorMatches } from '../../text/selector.ts';
import { installationCell, objectsOf, policySettingsCell, readObject } from '../inputs.ts';
import { mayAllowNamespace, namespaceLabels } from '../namespaces.ts';
import { withoutTrailingSlash } from './precedence.ts';
import { strata } from '../strata.ts';

// HostnamePolicies define which namespaces may serve a hostname, or some paths of it. A hostname that no policy contains belongs to
// everybody. Here are the decisions about hostnames with all of their paths; `path-owners.ts` has those about single paths.

/**
 * HostnamePolicies by hostname; entry: JSON of hostname and name of the policy. Buckets: `of <hostname>` for
 * those of the hostname, and `below <hostname>` for those of narrower hostnames. `''` is every hostname.
 */
export const policiesOfHostname = defineIndex({
  name: 'policiesOfHostname',
  stratum: strata.objectIndexes,
  over: objectsOf('HostnamePolicy'),
  *entries(read, _kind = '', _namespace = '', name = '') {
    for (const hostname of ownedHostnames(readObject(read, 'HostnamePolicy', '', name))) {
      const entry = JSON.stringify([hostname, name]);
      yield { bucket: `of ${hostname}`, entry };
      for (const wider of widerHostnames(hostname)) yield { bucket: `below ${wider}`, entry };
    }
  },
});

/** The hostnames of a policy in lower case. `*`, which covers every hostname, becomes `''`. */
function ownedHostnames(policy: Resource<'HostnamePolicy'> | undefined): readonly string[] {
  const hostnames = policy?.spec?.hostnames ?? [];
  return [...new Set(hostnames.map((hostname) => (hostname === '*' ? '' : hostnameKey(hostname))))];
}

/** Whether there can be policies. The query reads no index, so that attachments are updated before all indexes. */
export const hasHostnamePolicies = defineQuery({
  name: 'hasHostnamePolicies',
  stratum: strata.links,
  compute: (read): boolean =>
    read.input(installationCell)?.hostnamePolicies === true || read.input(policySettingsCell) === true,
});

/** Whether a namespace may serve a hostname, or a path of it. */
export type HostnamePermission =
  | { readonly type: 'permitted' }
  /** It depends on the labels of the namespace, which are unknown here. */
  | { readonly type: 'unobserved' }
  | HostnameRefusal;

export interface HostnameRefusal {
  readonly type: 'refused';
  /** The hostname in the policies, `''` for every hostname. It can be narrower than the one of the route. */
  readonly owned: string;
  /** The path prefix in the policies, without a final slash; `''` for every path. */
  readonly path: string;
  /** The policies that contain it, by name. */
  readonly policies: readonly string[];
  /** The namespaces that they permit, one entry for each policy that permits any. */
  readonly owners: readonly PermittedNamespaces[];
}

/** The namespaces that a policy permits: those that have one of the names, and the labels. */
export interface PermittedNamespaces {
  readonly names?: readonly string[];
  /** A label selector in the notation of kubectl. */
  readonly labels?: string;
}

/**
 * Whether a namespace may serve a hostname with all paths on a Gateway (`namespace/name`). The policies with the narrowest hostname
 * that covers it decide. Without any, the hostname may still cover hostnames of others: serving it would take the requests for
 * them that their owners do not serve. Then each of these hostnames must be permitted.
 */
export const hostnamePermission = defineQuery({
  name: 'hostnamePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): HostnamePermission {
    const covering = read.query(coveringPermission, hostname, gateway, namespace);
    if (covering !== undefined) return covering;
    return strictest(judgedBelow(read, hostname, gateway, namespace).map(ofAllPaths));
  },
});

/**
 * What the policies with the narrowest hostname that covers a hostname decide about a namespace on a Gateway (`namespace/name`);
 * `undefined` if no policy covers it, except policies for paths that permit the namespace.
 */
export const coveringPermission = defineQuery({
  name: 'coveringHostnamePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): HostnamePermission | undefined {
    for (const wider of coveringHostnames(read, hostname)) {
      for (const judged of judgedOf(read, wider, gateway, namespace)) {
        const permission = ofAllPaths(judged);
        if (ownsAllPaths(judged) || permission.type !== 'permitted') return permission;
      }
    }
    return undefined;
  },
});

/**
 * Returns those of a hostname and the wider ones that policies may have, narrowest first. Hostnames with more than a hundred labels have as
 * many wider ones, so those below the first one below which there are no policies are not read.
 */
export function coveringHostnames(read: Reader, hostname: string): readonly string[] {
  const wider = widerHostnames(hostname);
  const last = wider.findLastIndex((one) => read.first(policiesOfHostname, `below ${one}`) === undefined);
  return last === -1 ? [hostname, ...wider] : wider.slice(last);
}

/**
 * A hostname, or path prefixes of it, with their policies. There may be thousands of namespaces and policies, and each policy may have
 * many paths, so it is independent of namespaces.
 */
export interface OwnedHostname {
  /** The hostname in the policies, `''` for every hostname. */
  readonly owned: string;
  /** The position of the grant of each path prefix, longest prefixes first. They have no final slash; `''` is every path. */
  readonly paths: ReadonlyMap<string, number>;
  /** The same array for all hostnames with the same policies. */
  readonly grants: readonly Grant[];
}

/** The namespaces that may serve some paths. */
export interface Grant {
  /** The policies with these paths, by name. Each of them permits its namespaces. */
  readonly policies: readonly string[];
  /** Whether it is for any path prefix except that of every path. */
  readonly isOfPaths: boolean;
  /** The namespaces, as `HostnameRefusal` has them. */
  readonly owners: readonly PermittedNamespaces[];
}

/** An owned hostname with the decisions about a namespace. */
export interface JudgedHostname {
  readonly hostname: OwnedHostname;
  /** By the position of the grant. */
  readonly verdicts: readonly Verdict[];
}

export type Verdict = HostnamePermission['type'];

/** Returns the owners of a hostname on a Gateway (`namespace/name`); empty if no policy has the hostname. */
export function judgedOf(read: Reader, ...[hostname, gateway, namespace]: Place): readonly JudgedHostname[] {
  return read.query(hostnamesWithOwners, 'of', hostname, gateway).map((owned) => judge(read, owned, namespace));
}

/** Returns the owners of each hostname that is narrower than a hostname. */
export function judgedBelow(read: Reader, ...[hostname, gateway, namespace]: Place): readonly JudgedHostname[] {
  return read.query(hostnamesWithOwners, 'below', hostname, gateway).map((owned) => judge(read, owned, namespace));
}

/** A hostname, a Gateway and the namespace of a route. */
type Place = readonly [hostname: string, gateway: string, namespace: string];

/** A hostname can have thousands of grants, but a namespace has few of them. */
function judge(read: Reader, hostname: GrantedHostname, namespace: string): JudgedHostname {
  const verdicts = hostname.grants.map((): Verdict => 'refused');
  for (const [position, selective] of hostname.selective) verdicts[position] = decide(read, selective, namespace);
  for (const position of hostname.named.get(namespace) ?? []) verdicts[position] = 'permitted';
  return { hostname, verdicts };
}

/** The decision about a path prefix that has an owner. */
export function verdictOn({ hostname, verdicts }: JudgedHostname, path: string): Verdict | undefined {
  return verdicts[hostname.paths.get(path) ?? -1];
}

/** Describes why a path prefix of a hostname may not be served. */
export function refusalOn({ owned, paths, grants }: OwnedHostname, path: string): HostnameRefusal {
  const { policies = [], owners = [] } = grants[paths.get(path) ?? -1] ?? {};
  return { type: 'refused', owned, path, policies, owners };
}

/** Whether policies are for the hostname with all paths. */
export function ownsAllPaths({ hostname }: JudgedHostname): boolean {
  return hostname.paths.has('');
}

/** The owned hostname itself (`of`), or each narrower one (`below`), on a Gateway. */
const hostnamesWithOwners = defineQuery({
  name: 'hostnamesWithOwners',
  stratum: strata.links,
  compute(read, which: string, hostname: string, gateway: string): readonly GrantedHostname[] {
    const policiesOf = Map.groupBy(policiesFor(read, `${which} ${hostname}`, gateway), ({ owned }) => owned);
    return [...policiesOf].map(([owned, owning]) => {
      const policies = owning.map(({ policy }) => policy);
      const { paths } = read.query(pathsOfPolicies, ...policies);
      return { owned, paths, ...read.query(grantsOfPolicies, ...policies) };
    });
  },
});

interface SharedPaths {
  readonly paths: OwnedHostname['paths'];
  /** The policies of each grant. */
  readonly sharers: readonly (readonly string[])[];
}

/** The paths of the policies of one hostname. They are apart from the permitted namespaces, which change alone. */
const pathsOfPolicies = defineQuery({
  name: 'hostnamePolicySharers',
  stratum: strata.links,
  compute(read, ...policies: readonly string[]): SharedPaths {
    const policiesOf = new Map<string, string[]>();
    for (const policy of policies) {
      for (const path of read.query(ownedPaths, policy)) entryOf(policiesOf, path, () => []).push(policy);
    }
    const sharers = new Map<string, { readonly position: number; readonly policies: readonly string[] }>();
    const grantOf = [...policiesOf]
      .sort(([one], [other]) => other.length - one.length)
      .map(([path, sharing]): [string, number] => {
        const known = entryOf(sharers, sharing.join(' '), () => ({ position: sharers.size, policies: sharing }));
        return [path, known.position];
      });
    return { paths: new Map(grantOf), sharers: [...sharers.values()].map((one) => one.policies) };
  },
});

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

interface Granted extends Pick<OwnedHostname, 'grants'> {
  /** The positions of the grants of each namespace that policies without a selector permit. */
  readonly named: ReadonlyMap<string, readonly number[]>;
  /** The other policies that permit any, by the position of the grant. */
  readonly selective: readonly (readonly [position: number, policies: readonly Selective[]])[];
}

interface GrantedHostname extends OwnedHostname, Granted {}

/** A policy with a selector. If it has names, too, both must match. */
interface Selective {
  readonly names: readonly string[] | undefined;
  readonly selector: Selector;
}

/** Several policies with the same hostname and path permit the namespaces of each of them. */
const grantsOfPolicies = defineQuery({
  name: 'hostnamePolicyGrants',
  stratum: strata.links,
  compute(read, ...policies: readonly string[]): Granted {
    const { paths, sharers } = read.query(pathsOfPolicies, ...policies);
    const ofPaths = new Set([...paths].flatMap(([path, position]) => (path === '' ? [] : [position])));
    const named = new Map<string, number[]>();
    const selective: [number, Selective[]][] = [];
    for (const [position, sharing] of sharers.entries()) {
      const permitted = sharing.flatMap((policy) => read.query(permittedBy, policy) ?? []);
      const all = permitted.flatMap(({ names, selector }) => (selector === undefined ? (names ?? []) : []));
      for (const namespace of new Set(all)) entryOf(named, namespace, () => []).push(position);
      const some = permitted.flatMap(({ names, selector }) => (selector === undefined ? [] : [{ names, selector }]));
      if (some.length > 0) selective.push([position, some]);
    }
    const grants = sharers.map((sharing, position) => ({
      policies: sharing,
      isOfPaths: ofPaths.has(position),
      owners: sharing.flatMap((policy) => read.query(permittedNamespaces, policy)),
    }));
    return { grants, named, selective };
  },
});

/** Whether policies with selectors permit a namespace. */
function decide(read: Reader, selective: readonly Selective[], namespace: string): Verdict {
  const relevant = selective.filter(({ names }) => names === undefined || names.includes(namespace));
  if (relevant.length === 0) return 'refused';
  const labels = read.query(namespaceLabels, namespace);
  if (relevant.some(({ selector }) => selectorMatches(selector, labels))) return 'permitted';
  const isUnknown = relevant.some(({ selector }) => mayAllowNamespace(read, { from: 'Selector', selector }, namespace));
  return isUnknown ? 'unobserved' : 'refused';
}

/** The owner of a hostname may serve all of its paths. Without an owner, the namespace must own every owned path. */
function ofAllPaths(judged: JudgedHostname): HostnamePermission {
  const { hostname, verdicts } = judged;
  const strict = ownsAllPaths(judged) ? verdictOn(judged, '') : strictestVerdict(verdicts);
  if (strict !== 'refused') return { type: strict ?? 'permitted' };
  const path = ownsAllPaths(judged) ? '' : hostname.paths.keys().find((one) => verdictOn(judged, one) === 'refused');
  return refusalOn(hostname, path ?? '');
}

function strictestVerdict(verdicts: readonly Verdict[]): Verdict {
  return (['refused', 'unobserved'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'permitted';
}

function strictest(permissions: readonly HostnamePermission[]): HostnamePermission {
  return (
    permissions.find(({ type }) => type === 'refused') ??
    permissions.find(({ type }) => type === 'unobserved') ?? { type: 'permitted' }
  );
}

interface OwningPolicy {
  readonly owned: string;
  readonly policy: string;
}

function policiesFor(read: Reader, bucket: string, gateway: string): readonly OwningPolicy[] {
  return read
    .list(policiesOfHostname, bucket)
    .map((entry): OwningPolicy => {
      const [owned = '', policy = ''] = JSON.parse(entry) as readonly string[];
      return { owned, policy };
    })
    .filter(({ policy }) => read.query(appliesTo, policy, gateway));
}

/** Whether a policy applies to a Gateway. A policy without Gateways, or with unreadable ones, applies to all. */
const appliesTo = defineQuery({
  name: 'hostnamePolicyAppliesTo',
  stratum: strata.links,
  compute(read, name: string, gateway: string): boolean {
    const policy = readObject(read, 'HostnamePolicy', '', name);
    if (policy?.spec?.gateways === undefined || hasUnreadable(policy, 'gateways')) return true;
    return policy.spec.gateways.some((one) => `${one.namespace ?? ''}/${one.name ?? ''}` === gateway);
  },
});

function hasUnreadable(policy: Resource<'HostnamePolicy'>, field: string): boolean {
  return policy.unreadable.some(({ path }) => path[0] === 'spec' && path[1] === field);
}

/** The path prefixes of a policy in the spelling of matches. A policy without paths, or with unreadable ones, is for every path. */
const ownedPaths = defineQuery({
  name: 'hostnamePolicyPaths',
  stratum: strata.links,
  compute(read, name: string): readonly string[] {
    const policy = readObject(read, 'HostnamePolicy', '', name);
    if (policy?.spec?.paths === undefined || hasUnreadable(policy, 'paths')) return [''];
    return [...new Set(policy.spec.paths.map((path) => withoutTrailingSlash(canonicalSpelling(path))))];
  },
});

type Selector = NonNullable<NonNullable<NonNullable<Resource<'HostnamePolicy'>['spec']>['namespaces']>['selector']>;

/** The namespaces that a policy permits. */
interface Permitted {
  readonly names?: readonly string[] | undefined;
  readonly selector?: Selector | undefined;
}

/** The namespaces that a policy permits; `undefined` for none. Unreadable parts permit nothing. */
const permittedBy = defineQuery({
  name: 'hostnamePolicyPermits',
  stratum: strata.links,
  compute(read, name: string): Permitted | undefined {
    const policy = readObject(read, 'HostnamePolicy', '', name);
    if (policy === undefined || isLost(policy, ['spec'])) return undefined;
    if (hasUnreadable(policy, 'namespaces') || hasUnreadable(policy, 'paths')) return undefined;
    const { names, selector } = policy.spec?.namespaces ?? {};
    return names === undefined && selector === undefined ? undefined : { names, selector };
  },
});

/** The namespaces that a policy permits; empty if its selector is invalid, or if it has neither names nor a selector. */
const permittedNamespaces = defineQuery({
  name: 'hostnamePolicyOwners',
  stratum: strata.links,
  compute(read, name: string): readonly PermittedNamespaces[] {
    const { names, selector } = readObject(read, 'HostnamePolicy', '', name)?.spec?.namespaces ?? {};
    if (selector === undefined) return names === undefined ? [] : [{ names }];
    const labels = formatSelector(selector);
    return labels === undefined ? [] : [{ ...(names && { names }), labels }];
  },
});
