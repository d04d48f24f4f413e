import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

/** XBackends of these protocols carry no HTTP requests that a cookie or header could be in. */
const withoutHttp: ReadonlySet<string> = new Set(['TCP', 'MCP']);

export const sessionWithoutHttp = unenforcedRule({
  id: 'session-without-http',
  summary: 'Sessions are tied by cookie or header on a protocol that has neither.',
  effect: warned,
  source: 'GEP-1619, Session Persistence; Gateway API v1.7.0, BackendSpec.protocol',
}, function judge({ protocol = '', sessionPersistence }: { readonly protocol?: string; readonly sessionPersistence?: object }, report) {
  if (sessionPersistence === undefined || !withoutHttp.has(protocol)) return;
  report({ below: ['sessionPersistence'], message: `protocol: ${protocol} carries no HTTP requests in which a cookie or header could be. Remove sessionPersistence, or write protocol: HTTP.` });
});
