import { defaultPorts } from '../../text/origin.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Redirect } from '../routes/rule-contents.ts';

export const redirectPortOfOtherScheme = unenforcedRule(
  {
    id: 'redirect-port-of-other-scheme',
    summary: 'A redirect uses the port of the other scheme.',
    effect: warned,
    source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter.scheme and .port',
  },
  function judge({ scheme = '', port }: Redirect, report) {
    if (port === undefined || (scheme !== 'http' && scheme !== 'https')) return;
    const other = scheme === 'http' ? 'https' : 'http';
    if (port !== defaultPorts[other]) return;
    report({
      below: ['port'],
      value: String(port),
      message: `Port ${port} conflicts with scheme ${scheme}: it is the port of ${other}. Remove port to use the default port of ${scheme}, or use scheme: ${other}.`,
    });
  },
);
