import { createHash } from 'node:crypto';
import { withoutTrailing } from '../core/text/trim.ts';

/** Maximum length of Service names and label values. */
const longest = 63;
const suffix = '-sallyport';

/** Load balancer class of Services that get addresses of our own pool. */
export const poolClass = 'sallyport.dev/address-pool';

/**
 * The name of all objects that are provisioned for a Gateway, valid for all kinds (RFC 1035 label). A name that is too long, contains
 * dots or begins with a digit is shortened and gets a hash that keeps it unique.
 */
export function dataPlaneName(gateway: string): string {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(gateway) && gateway.length + suffix.length <= longest)
    return `${gateway}${suffix}`;
  const readable = gateway.replaceAll(/[^-a-z0-9]/g, '-').slice(0, 35);
  return `gw-${readable}-${hashOf(gateway)}${suffix}`;
}

const clusterSuffix = '-cluster';

/** The name of the Service that only the cluster can reach. It differs from all names of `dataPlaneName`, which end otherwise. */
export function clusterServiceName(gateway: string): string {
  const name = dataPlaneName(gateway);
  if (name.length + clusterSuffix.length <= longest) return `${name}${clusterSuffix}`;
  return `${name.slice(0, 43)}-${hashOf(gateway)}${clusterSuffix}`;
}

/**
 * The name of the Service of an XBackend with this uid. It is not predictable, so that nobody relies on its DNS name
 * (EndpointSelectorBackend). It differs from the names of other objects, which end with `-sallyport` or `-cluster`.
 */
export function selectorServiceName(uid: string): string {
  return `sallyport-backend-${hashOf(uid)}`;
}

/** The name as a label value: unchanged if it fits. */
export function labelValue(name: string): string {
  return name.length <= longest ? name : `${withoutTrailing(name.slice(0, 50), '-.')}-${hashOf(name)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
