import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Redirect } from '../routes/rule-contents.ts';

/** A status code alone is what some use it for. */
export const redirectWithoutChange = unenforcedRule({
  id: 'redirect-without-change',
  summary: 'A redirect changes neither scheme, hostname, port nor path.',
  effect: recorded,
  source: 'Gateway API v1.7.0, HTTPRequestRedirectFilter',
}, function judge({ scheme, hostname, port, path }: Redirect, report) {
  if (scheme !== undefined || hostname !== undefined || port !== undefined || path !== undefined) return;
  report({ below: [], message: 'This redirect leads to the address that was asked for, which clients may follow in a circle. Write scheme, hostname, port or path.' });
});
