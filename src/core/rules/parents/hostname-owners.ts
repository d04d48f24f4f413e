import type { HostnameRefusal } from '../../graph/matches/hostname-policies.ts';
import { quote } from '../../text/display.ts';

/** Describes the policies that refuse a hostname or a path, and the namespaces that they permit. */
export function describeOwners({ owned, path, policies, owners }: Omit<HostnameRefusal, 'type'>): string {
  const names = policies.slice(0, shown).map((policy) => quote(policy));
  const subject = `${names.length === 1 ? 'HostnamePolicy' : 'HostnamePolicies'} ${names.join(', ')}`;
  const verb = names.length === 1 ? 'permits' : 'permit';
  const object = path === '' ? 'it' : `path prefix ${quote(path)} of ${hostnameText(owned)}`;
  const places = placesOf(owners);
  if (places.length === 0) return `${subject} ${verb} ${object} in no namespace`;
  const others = places.length > shown ? ` and ${places.length - shown} more` : '';
  return `${subject} ${verb} ${object} only ${places.slice(0, shown).join(' or ')}${others}`;
}

/** The namespaces that are permitted by name alone are together. */
function placesOf(owners: HostnameRefusal['owners']): readonly string[] {
  const named = new Set(owners.flatMap(({ names = [], labels }) => (labels === undefined ? names : [])));
  const labelled = owners.flatMap(({ names, labels }) => {
    if (labels === undefined) return [];
    const namespaces = names === undefined ? 'namespaces' : namesText(names);
    return [`in ${namespaces} with labels ${quote(labels)}`];
  });
  return [...(named.size === 0 ? [] : [`in ${namesText([...named])}`]), ...new Set(labelled)];
}

function namesText(names: readonly string[]): string {
  const listed = names.slice(0, shown).map((name) => quote(name));
  const more = names.length > shown ? ` and ${names.length - shown} more` : '';
  return `namespace ${listed.join(', ')}${more}`;
}

const shown = 3;

/** Returns a hostname for a message; `''` is every hostname. */
export function hostnameText(hostname: string): string {
  return hostname === '' ? 'all hostnames' : `hostname ${quote(hostname)}`;
}
