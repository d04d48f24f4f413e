import { type ViewAt } from '../../schema/index.ts';
import { keyOf } from '../../incremental/key.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import { nameOf } from './sessions.ts';
import { cookiePath, sessionType } from '../../semantics/intended.ts';

export const sessionNameRepeated = unenforcedRule(
  {
    id: 'session-name-repeated',
    summary: 'Two rules use one cookie or header for their sessions.',
    effect: warned,
    source:
      'GEP-1619, Session Persistence (naming collisions); Gateway API v1.7.0, CookieConfig.name and HeaderConfig.name',
  },
  function judge(rules: readonly ViewAt<'HTTPRoute' | 'GRPCRoute', 'spec.rules[]'>[], report) {
    const first = new Map<string, number>();
    for (const [index, { sessionPersistence }] of rules.entries()) {
      if (sessionPersistence === undefined) continue;
      const session = nameOf(sessionPersistence);
      if (session === undefined) continue;
      const key = keyOf([sessionType(sessionPersistence), cookiePath(sessionPersistence), session.name]);
      const before = first.get(key);
      if (before === undefined) first.set(key, index);
      else
        report({
          below: [index, 'sessionPersistence', ...session.below],
          value: display(session.name),
          message: `Duplicate session name ${quote(session.name)}: spec.rules[${before}] uses the same name, so clients of both rules lose one of their sessions. Use another name.`,
        });
    }
  },
);
