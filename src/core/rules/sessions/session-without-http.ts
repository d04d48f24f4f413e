import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

/** XBackends with these protocols carry no HTTP requests, so there is no cookie or header. */
const withoutHttp: ReadonlySet<string> = new Set(['TCP', 'MCP']);

export const sessionWithoutHttp = unenforcedRule(
  {
    id: 'session-without-http',
    summary: 'sessionPersistence conflicts with a protocol that has no cookies or headers.',
    effect: warned,
    source: 'GEP-1619, Session Persistence; Gateway API v1.7.0, BackendSpec.protocol',
  },
  function judge(
    { protocol = '', sessionPersistence }: { readonly protocol?: string; readonly sessionPersistence?: object },
    report,
  ) {
    if (sessionPersistence === undefined || !withoutHttp.has(protocol)) return;
    report({
      below: ['sessionPersistence'],
      message: `sessionPersistence conflicts with protocol: ${protocol}, which has no cookies or headers. Remove sessionPersistence, or use protocol: HTTP.`,
    });
  },
);
