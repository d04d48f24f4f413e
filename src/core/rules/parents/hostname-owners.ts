import type { HostnameRefusal } from '../../graph/hostname-policies.ts';
import { quote } from '../../text/display.ts';

/** Describes the policies that refuse a hostname or a path, and the namespaces that they permit. */
export function describeOwners({ owned, path, policies, owners }: Omit<HostnameRefusal, 'type'>): string {
  const names = policies.slice(0, shown).map((policy) => quote(policy));
  const subject = `${names.length === 1 ? 'HostnamePolicy' : 'HostnamePolicies'} ${names.join(', ')}`;
  const verb = names.length === 1 ? 'permits' : 'permit';
  const object = path === '' ? 'it' : `path prefix ${quote(path)} of ${hostnameText(owned)}`;
  const listed = owners.slice(0, shown).map((owner) => quote(owner));
  const more = owners.length > shown ? ` and ${owners.length - shown} more` : '';
  return listed.length === 0
    ? `${subject} ${verb} ${object} only in namespaces with certain labels`
    : `${subject} ${verb} ${object} only in namespace ${listed.join(', ')}${more}`;
}

const shown = 3;

/** Returns a hostname for a message; `''` is every hostname. */
export function hostnameText(hostname: string): string {
  return hostname === '' ? 'all hostnames' : `hostname ${quote(hostname)}`;
}
