import { defineIndex, defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { isLost, type Resource } from '../resources/resource.ts';
import { widerHostnames } from '../text/hostname.ts';
import { selectorMatches } from '../text/selector.ts';
import { installationCell, objectsOf, readObject } from './inputs.ts';
import { mayAllowNamespace, namespaceLabels } from './namespaces.ts';
import { strata } from './strata.ts';

// HostnamePolicies define which namespaces may serve a hostname. A hostname that no policy contains belongs to everybody.

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
  return [...new Set(hostnames.map((hostname) => (hostname === '*' ? '' : hostname.toLowerCase())))];
}

/** Whether there can be policies. The query reads no index, so that attachments are updated before all indexes. */
export const hasHostnamePolicies = defineQuery({
  name: 'hasHostnamePolicies',
  stratum: strata.links,
  compute: (read): boolean => read.input(installationCell)?.hostnamePolicies === true,
});

/** Whether a namespace may serve a hostname. */
export type HostnamePermission =
  | { readonly type: 'permitted' }
  /** It depends on the labels of the namespace, which are unknown here. */
  | { readonly type: 'unobserved' }
  | HostnameRefusal;

export interface HostnameRefusal {
  readonly type: 'refused';
  /** The hostname in the policies, `''` for every hostname. It can be narrower than the one of the route. */
  readonly owned: string;
  /** The policies that contain it, by name. */
  readonly policies: readonly string[];
  /** The namespaces that they permit by name. */
  readonly owners: readonly string[];
}

/**
 * Whether routes of a namespace may serve a hostname on a Gateway (`namespace/name`). The policies with the narrowest hostname
 * that covers it decide. Without any, the hostname may still cover hostnames of others: serving it would take the requests for
 * them that their owners do not serve. Then each of these hostnames must be permitted.
 */
export const hostnamePermission = defineQuery({
  name: 'hostnamePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): HostnamePermission {
    const covering = read.query(coveringPermission, hostname, gateway, namespace);
    if (covering !== undefined) return covering;
    const below = Map.groupBy(policiesFor(read, `below ${hostname}`, gateway), ({ owned }) => owned);
    const decisions = [...below.values()].map((policies) => decide(read, policies, namespace));
    return (
      decisions.find(({ type }) => type === 'refused') ??
      decisions.find(({ type }) => type === 'unobserved') ?? { type: 'permitted' }
    );
  },
});

/**
 * What the policies with the narrowest hostname that covers a hostname decide about a namespace on a Gateway (`namespace/name`);
 * `undefined` if no policy covers it.
 */
export const coveringPermission = defineQuery({
  name: 'coveringHostnamePermission',
  stratum: strata.links,
  compute(read, hostname: string, gateway: string, namespace: string): HostnamePermission | undefined {
    for (const wider of [hostname, ...widerHostnames(hostname)]) {
      const policies = policiesFor(read, `of ${wider}`, gateway);
      if (policies.length > 0) return decide(read, policies, namespace);
    }
    return undefined;
  },
});

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

/** Several policies with the same hostname permit the namespaces of each of them. */
function decide(read: Reader, policies: readonly OwningPolicy[], namespace: string): HostnamePermission {
  const standings = new Set(policies.map(({ policy }) => read.query(policyStanding, policy, namespace)));
  if (standings.has('permitted')) return { type: 'permitted' };
  if (standings.has('unobserved')) return { type: 'unobserved' };
  return {
    type: 'refused',
    owned: policies[0]?.owned ?? '',
    policies: policies.map(({ policy }) => policy),
    owners: [...new Set(policies.flatMap(({ policy }) => read.query(namedOwners, policy)))],
  };
}

/** Whether a policy permits a namespace. If it has names and a selector, both must match. Unreadable parts permit nothing. */
const policyStanding = defineQuery({
  name: 'hostnamePolicyStanding',
  stratum: strata.links,
  compute(read, name: string, namespace: string): HostnamePermission['type'] {
    const policy = readObject(read, 'HostnamePolicy', '', name);
    if (policy === undefined || hasUnreadable(policy, 'namespaces') || isLost(policy, ['spec'])) return 'refused';
    const { names, selector } = policy.spec?.namespaces ?? {};
    if (names === undefined && selector === undefined) return 'refused';
    if (names !== undefined && !names.includes(namespace)) return 'refused';
    if (selector === undefined || selectorMatches(selector, read.query(namespaceLabels, namespace))) return 'permitted';
    return mayAllowNamespace(read, { from: 'Selector', selector }, namespace) ? 'unobserved' : 'refused';
  },
});

const namedOwners = defineQuery({
  name: 'hostnamePolicyOwners',
  stratum: strata.links,
  compute: (read, name: string): readonly string[] =>
    readObject(read, 'HostnamePolicy', '', name)?.spec?.namespaces?.names ?? [],
});
