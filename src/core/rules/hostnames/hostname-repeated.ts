import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const hostnameRepeated = unenforcedRule(
  {
    id: 'hostname-repeated',
    summary: 'A list has duplicate hostnames.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRouteSpec.hostnames',
  },
  function judge(hostnames: readonly string[], report) {
    for (const [index, hostname] of hostnames.entries()) {
      const before = hostnames.indexOf(hostname);
      if (before !== index)
        report({
          below: [index],
          value: display(hostname),
          message: `Duplicate hostname ${quote(hostname)}: hostnames[${before}] is the same. Remove one of them, or correct the name.`,
        });
    }
  },
);
