/**
 * The number of Sallyport proxies that a request can pass before it counts as a loop (RFC 9110 section 7.3: "An intermediary
 * MUST NOT forward a message to itself unless it is protected from an infinite request loop"). Chains of Gateways are far
 * shorter.
 */
export const maxHops = 8;

/** A mirrored copy counts as several hops, because copies of copies would multiply with each hop. */
export const hopsOfCopy = 4;

const ownEntry = /\bsallyport(?: \(hop (?<hop>\d{1,3})\))?/g;

/**
 * The number of Sallyport proxies that a request has passed.
 *
 * @param via the value of Via (RFC 9110 section 7.6.3), several fields joined with commas; `undefined` if absent
 * @returns the greatest hop number, or the number of entries if that is greater; 0 for none
 */
export function hopsIn(via: string | undefined): number {
  if (via === undefined) return 0;
  let hops = 0;
  let entries = 0;
  for (const { groups } of via.matchAll(ownEntry)) {
    entries += 1;
    hops = Math.max(hops, Number(groups?.['hop'] ?? 0));
  }
  return Math.max(hops, entries);
}

/**
 * The entry for Via (RFC 9110 section 7.6.3). Each entry contains its hop number, so that a filter that removes earlier
 * entries does not hide a loop.
 *
 * @param httpVersion the version of the received message, such as `1.1`
 * @param hop the number of this hop, starting at 1
 */
export function viaEntry(httpVersion: string, hop: number): string {
  return hop === 1 ? `${httpVersion} sallyport` : `${httpVersion} sallyport (hop ${hop})`;
}
