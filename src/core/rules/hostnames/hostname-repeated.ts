import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

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
