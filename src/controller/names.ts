import { createHash } from 'node:crypto';

/** Names of Services and values of labels have no more characters. */
const longest = 63;
const suffix = '-sallyport';

/** Load balancer class of the Services that get addresses of our own pool. */
export const poolClass = 'sallyport.dev/address-pool';

/**
 * The name of everything that is provisioned for a Gateway, valid for all kinds (RFC 1035 label). Names of Gateways
 * may be longer, contain dots or begin with a digit: those are shortened, with a hash that tells them apart.
 */
export function dataPlaneName(gateway: string): string {
  if (/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(gateway) && gateway.length + suffix.length <= longest) return `${gateway}${suffix}`;
  const readable = gateway.replaceAll(/[^-a-z0-9]/g, '-').slice(0, 35);
  return `gw-${readable}-${hashOf(gateway)}${suffix}`;
}

/** The name as the value of a label: itself where it fits. */
export function labelValue(name: string): string {
  return name.length <= longest ? name : `${name.slice(0, 50).replace(/[-.]+$/, '')}-${hashOf(name)}`;
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 10);
}
