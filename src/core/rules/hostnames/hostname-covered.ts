import { display, quote } from '../../text/display.ts';
import { intersectHostnames } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';

/** Valid, and even useful: requests for the more specific hostname count as a more specific match. */
export const hostnameCovered = unenforcedRule(
  {
    id: 'hostname-covered',
    summary: 'A wildcard in the same list already matches a hostname.',
    effect: recorded,
    source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames (precedence of hostnames)',
  },
  function judge(hostnames: readonly string[], report) {
    const wildcards = hostnames.filter((hostname) => hostname.startsWith('*.'));
    for (const [index, hostname] of hostnames.entries()) {
      const wide = wildcards.find(
        (wildcard) => wildcard !== hostname && intersectHostnames(wildcard, hostname) === hostname,
      );
      if (wide !== undefined)
        report({
          below: [index],
          value: display(hostname),
          message: `Hostname ${quote(hostname)} is redundant: ${quote(wide)} in the same list also matches it. Remove it, unless it must take precedence over other routes with that wildcard.`,
        });
    }
  },
);
