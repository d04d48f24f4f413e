import { display, quote } from '../../text/display.ts';
import { hostnameProblems, intersectHostnames, type HostnameProblemKind } from '../../text/hostname.ts';
import { unenforcedRule, type UnenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict, recorded, warned } from '../engine/effects.ts';
import type { RuleFrame } from '../engine/rule.ts';

// Such names harm nobody but their user: they match what they say, if anything ever asks for them.

/** All CRDs but that of TLSRoute take IPv4 addresses for hostnames, and some users rely on it. */
export const hostnameIsIp = hostnameRule('ip-address', {
  id: 'hostname-is-ip',
  summary: 'An IP address stands where a hostname belongs.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, Hostname and PreciseHostname ("IPs are not allowed"); RFC 1123 section 2.1',
});

/** No DNS server can hold such a name, so it would never be asked for. */
export const hostnameLabelTooLong = hostnameRule('label-too-long', {
  id: 'hostname-label-too-long',
  summary: 'A label of a hostname has more than 63 characters.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, Hostname; RFC 1123 section 2.1, RFC 1035 section 2.3.4',
});

/** Declares a rule about one kind of problem of every hostname of an object, wildcard or not. */
function hostnameRule(kind: HostnameProblemKind, frame: RuleFrame): UnenforcedRule<string> {
  return unenforcedRule(frame, function judge(value, report) {
    for (const problem of hostnameProblems(value)) {
      if (problem.kind === kind) report({ below: [], value: display(value), message: `The hostname ${quote(value)} is not allowed: ${problem.message}.` });
    }
  });
}

export const hostnameRepeated = unenforcedRule({
  id: 'hostname-repeated',
  summary: 'A list names one hostname twice.',
  effect: warned,
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames',
}, function judge(hostnames: readonly string[], report) {
  for (const [index, hostname] of hostnames.entries()) {
    const before = hostnames.indexOf(hostname);
    if (before !== index) report({ below: [index], value: display(hostname), message: `The hostname ${quote(hostname)} stands in hostnames[${before}] already. Remove this one, or write the name that was meant.` });
  }
});

/** Legal, and even of use: requests for the narrower name count as matching more specifically. */
export const hostnameCovered = unenforcedRule({
  id: 'hostname-covered',
  summary: 'A wildcard of the same list matches whatever a hostname matches.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames (precedence of hostnames)',
}, function judge(hostnames: readonly string[], report) {
  const wildcards = hostnames.filter((hostname) => hostname.startsWith('*.'));
  for (const [index, hostname] of hostnames.entries()) {
    const wide = wildcards.find((wildcard) => wildcard !== hostname && intersectHostnames(wildcard, hostname) === hostname);
    if (wide !== undefined) report({ below: [index], value: display(hostname), message: `${quote(wide)} in the same list matches ${quote(hostname)}, too. Remove ${quote(hostname)} unless it shall come before routes with that wildcard.` });
  }
});
