import { quote } from './display.ts';
import { parseAddressRange } from './ip-address.ts';
import type { AddressRange } from './ip-address.ts';

/** A version of the PROXY protocol. */
export type ProxyVersion = 'v1' | 'v2';

/** The version of the PROXY protocol by listener port; `all` applies to ports that are not listed. */
export interface ProxyVersions {
  readonly all: ProxyVersion | undefined;
  readonly byPort: ReadonlyMap<number, ProxyVersion>;
}

/** A value, or the problem with the text and the fix. */
export type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: string };

/** Maximum number of characters of a list. */
export const longestList = 1_024;

/** Parses a list of networks, ranges and addresses such as `10.0.0.0/8, 2001:db8::/32`: load balancers that send PROXY headers. */
export function parseNetworks(text: string): Parsed<readonly AddressRange[]> {
  const parsed = entriesOf(text, 'networks such as 10.0.0.0/8, 2001:db8::/32');
  if (!parsed.ok) return parsed;
  const ranges: AddressRange[] = [];
  for (const entry of parsed.value) {
    const range = parseAddressRange(entry);
    if (!range.ok) return range;
    ranges.push(range.range);
  }
  return { ok: true, value: ranges };
}

const entryForm = /^(?:(?<port>[1-9][0-9]{0,4})=)?(?<version>v[12])$/;
const versionWords = 'v1 or v2 for all ports, or versions by the port of the listener such as 25=v1, 5432=v2';

/** Parses the versions of the PROXY protocol for backends: `v2` for all ports, or `25=v1, 5432=v2`. */
export function parseProxyVersions(text: string): Parsed<ProxyVersions> {
  const parsed = entriesOf(text, versionWords);
  if (!parsed.ok) return parsed;
  const byPort = new Map<number | undefined, ProxyVersion>();
  for (const entry of parsed.value) {
    const { port, version } = entryForm.exec(entry)?.groups ?? {};
    const number = port === undefined ? undefined : Number(port);
    if (version === undefined || (number ?? 0) > 65_535)
      return { ok: false, problem: `${quote(entry)} is invalid. Use ${versionWords}` };
    if (byPort.has(number))
      return {
        ok: false,
        problem: `${number === undefined ? 'the version for all ports' : `port ${number}`} is a duplicate. Keep one of the entries`,
      };
    byPort.set(number, version as ProxyVersion);
  }
  const all = byPort.get(undefined);
  byPort.delete(undefined);
  return { ok: true, value: { all, byPort: byPort as ReadonlyMap<number, ProxyVersion> } };
}

function entriesOf(text: string, words: string): Parsed<readonly string[]> {
  if (text.length > longestList)
    return { ok: false, problem: `the list is longer than ${longestList} characters. Merge neighboring networks` };
  const entries = text.split(',').map((entry) => entry.trim());
  return entries.includes('')
    ? { ok: false, problem: `an entry is empty. Use ${words}` }
    : { ok: true, value: entries };
}
