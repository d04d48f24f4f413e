import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

export const serverNamesMissing = unenforcedRule({
  id: 'server-names-missing',
  summary: 'A TLSRoute has no hostnames, which v1 refuses.',
  effect: warned,
  source: 'Gateway API v1.7.0, TLSRouteSpec.hostnames (required)',
}, function judge({ spec }: WholeObject<{ readonly hostnames?: readonly string[] }>, report) {
  if (spec === undefined || (spec.hostnames ?? []).length > 0) return;
  report({ below: ['spec', 'hostnames'], message: 'v1 of TLSRoute needs hostnames, so this route cannot be written as v1. Write hostnames with the names that clients ask for, e.g. shop.example.com.' });
});
