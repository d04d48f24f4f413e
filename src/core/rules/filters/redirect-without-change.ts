import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Redirect } from '../routes/rule-contents.ts';

/** Some users only want to set the status code. */
export const redirectWithoutChange = unenforcedRule(
  {
    id: 'redirect-without-change',
    summary: 'A redirect does not change scheme, hostname, port or path.',
    effect: recorded,
    source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter',
  },
  function judge({ scheme, hostname, port, path }: Redirect, report) {
    if (scheme !== undefined || hostname !== undefined || port !== undefined || path !== undefined) return;
    report({
      below: [],
      message:
        'The redirect points to the requested URL, which can cause a redirect loop. Set scheme, hostname, port or path.',
    });
  },
);
