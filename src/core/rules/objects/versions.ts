import { display } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { WholeObject } from '../engine/written-object.ts';

// What the version that an object is written in means for later releases.

/** The API server warns of some of them only. */
export const versionSuperseded = unenforcedRule({
  id: 'version-superseded',
  summary: 'An object is written in a version that a newer one stands for in the same bundle.',
  effect: warned,
  source: 'Gateway API v1.7.0, CRD versions; GEP-922, "API versions"',
}, function judge(apiVersion: string, report) {
  const current = `${apiVersion.split('/')[0]}/v1`;
  report({ below: [], value: display(apiVersion), message: `${display(apiVersion)} is superseded and will go away. Write ${current}.` });
});

interface StreamRoute {
  readonly rules?: readonly unknown[];
}

export const ruleBeyondFirst = unenforcedRule({
  id: 'rule-beyond-first',
  summary: 'A route has more than one rule, which v1 of its kind refuses.',
  effect: warned,
  source: 'Gateway API v1.7.0, TLSRouteSpec.rules, TCPRouteSpec.rules and UDPRouteSpec.rules (exactly one)',
}, function judge({ rules = [] }: StreamRoute, report) {
  if (rules.length < 2) return;
  report({ below: ['rules', 1], value: String(rules.length), message: 'v1 of this kind has exactly one rule, so this route cannot be written as v1, and the rules after the first get no traffic. Write one rule with all backendRefs.' });
});

export const serverNamesMissing = unenforcedRule({
  id: 'server-names-missing',
  summary: 'A TLSRoute has no hostnames, which v1 refuses.',
  effect: warned,
  source: 'Gateway API v1.7.0, TLSRouteSpec.hostnames (required)',
}, function judge({ spec }: WholeObject<{ readonly hostnames?: readonly string[] }>, report) {
  if (spec === undefined || (spec.hostnames ?? []).length > 0) return;
  report({ below: ['spec', 'hostnames'], message: 'v1 of TLSRoute needs hostnames, so this route cannot be written as v1. Write hostnames with the names that clients ask for, e.g. shop.example.com.' });
});
