import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';

/** TLSRoutes are the only kind in which bundles reject addresses as hostnames. */
export const serverNameIsIp = specificationRule({
  id: 'server-name-is-ip',
  summary: 'A hostname of a TLSRoute is an IP address.',
  source: 'Gateway API v1.7.0, TLSRouteSpec.hostnames ("IPs are not allowed in SNI hostnames per RFC 6066")',
});

const byte = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

/** The pattern of hostnames already excludes all addresses except for IPv4 without wildcard. */
export const serverNamesAreNames = demand(serverNameIsIp, function judge(hostnames: readonly string[], report) {
  for (const [index, hostname] of hostnames.entries()) {
    if (!ipv4.test(hostname)) continue;
    report({
      below: [index],
      value: display(hostname),
      message: `Invalid hostname ${quote(hostname)}: it is an IP address, which clients do not send as server name. Use a DNS name, for example shop.example.com.`,
    });
  }
});
