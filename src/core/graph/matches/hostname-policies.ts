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
    return strictest(ownersBelow(read, hostname, gateway, namespace).map(ofAllPaths));
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
    for (const wider of [hostname, ...widerHostnames(hostname)]) {
      const owners = ownersOf(read, wider, gateway, namespace);
      const permission = ofAllPaths(owners);
      if (wholeOwner(owners) !== undefined || permission.type !== 'permitted') return permission;
    }
    return undefined;
  },
});

/** What the policies for a path prefix of a hostname decide about a namespace. */
export interface PathOwner {
  /** The hostname in the policies, `''` for every hostname. */
  readonly owned: string;
  /** The prefix without a final slash; `''`: the policies are for the hostname with all paths. */
  readonly path: string;
  readonly permission: HostnamePermission;
}

/** Returns the owners of a hostname and its paths on a Gateway, longest paths first. */
export function ownersOf(read: Reader, hostname: string, gateway: string, namespace: string): readonly PathOwner[] {
  return read.query(partsOf, 'of', hostname, gateway).flatMap((parts) => ownersAmong(read, parts, namespace));
}

/** Returns the owners of each hostname that is narrower than a hostname. */
export function ownersBelow(
  read: Reader,
  hostname: string,
  gateway: string,
  namespace: string,
): readonly (readonly PathOwner[])[] {
  return read.query(partsOf, 'below', hostname, gateway).map((parts) => ownersAmong(read, parts, namespace));
}

function ownersAmong(read: Reader, parts: readonly OwnedPart[], namespace: string): readonly PathOwner[] {
  return parts.map((part) => ({ owned: part.owned, path: part.path, permission: decide(read, part, namespace) }));
}

/** A path prefix of a hostname with its policies. There may be thousands of namespaces and policies, so it is independent of namespaces. */
interface OwnedPart {
  readonly owned: string;
  readonly path: string;
  /** The decision about other namespaces. */
  readonly refusal: HostnameRefusal;
  /** The namespaces that policies without a selector permit. */
  readonly named: ReadonlySet<string>;
  /** The other policies that permit any. If one has names, too, both must match. */
  readonly selective: readonly { readonly names: readonly string[] | undefined; readonly selector: Selector }[];
}

/** The parts of a hostname (`of`), or of each narrower one (`below`), on a Gateway; of each hostname, longest paths first. */
const partsOf = defineQuery({
  name: 'hostnamePolicyParts',
  stratum: strata.links,
  compute(read, which: string, hostname: string, gateway: string): readonly (readonly OwnedPart[])[] {
    const byHostname = new Map<string, Map<string, string[]>>();
    for (const { owned, policy } of policiesFor(read, `${which} ${hostname}`, gateway)) {
      const byPath = entryOf(byHostname, owned, () => new Map<string, string[]>());
      for (const path of read.query(ownedPaths, policy)) entryOf(byPath, path, () => []).push(policy);
    }
    return [...byHostname].map(([owned, byPath]) =>
      [...byPath]
        .map(([path, policies]) => partWith(read, { owned, path }, policies))
        .sort((one, other) => other.path.length - one.path.length),
    );
  },
});

function entryOf<T>(map: Map<string, T>, key: string, make: () => T): T {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** Several policies with the same hostname and path permit the namespaces of each of them. */
function partWith(
  read: Reader,
  { owned, path }: Pick<OwnedPart, 'owned' | 'path'>,
  policies: readonly string[],
): OwnedPart {
  const permitted = policies.flatMap((policy) => read.query(permittedBy, policy) ?? []);
  return {
    owned,
    path,
    named: new Set(permitted.flatMap(({ names, selector }) => (selector === undefined ? (names ?? []) : []))),
    selective: permitted.flatMap(({ names, selector }) => (selector === undefined ? [] : [{ names, selector }])),
    refusal: {
      type: 'refused',
      owned,
      path,
      policies,
      owners: policies.flatMap((policy) => read.query(permittedNamespaces, policy)),
    },
  };
}

/** Whether the policies of a part permit a namespace. */
function decide(read: Reader, { named, selective, refusal }: OwnedPart, namespace: string): HostnamePermission {
  if (named.has(namespace)) return { type: 'permitted' };
  const relevant = selective.filter(({ names }) => names === undefined || names.includes(namespace));
  if (relevant.length === 0) return refusal;
  const labels = read.query(namespaceLabels, namespace);
  if (relevant.some(({ selector }) => selectorMatches(selector, labels))) return { type: 'permitted' };
  const isUnknown = relevant.some(({ selector }) => mayAllowNamespace(read, { from: 'Selector', selector }, namespace));
  return isUnknown ? { type: 'unobserved' } : refusal;
}

/** Returns the owner of a hostname with all paths, if there is one. */
export function wholeOwner(owners: readonly PathOwner[]): PathOwner | undefined {
  return owners.find(({ path }) => path === '');
}

/** The owner of a hostname may serve all of its paths. Without an owner, the namespace must own every owned path. */
function ofAllPaths(owners: readonly PathOwner[]): HostnamePermission {
  return wholeOwner(owners)?.permission ?? strictest(owners.map(({ permission }) => permission));
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
