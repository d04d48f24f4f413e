import { display, quote } from '../../text/display.ts';
import { controlCharacter } from '../../text/header.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';

/** The path becomes part of the Set-Cookie header without escaping. */
export const cookiePathUnsafe = unenforcedRule(
  {
    id: 'cookie-path-unsafe',
    summary: 'The path of a cookie contains a character that ends it.',
    effect: denied,
    source: 'RFC 6265 section 4.1.1 (path-value); Gateway API v1.7.0, CookieConfig.path',
  },
  function judge(path: string, report) {
    const found = controlCharacter(path) ?? (path.includes(';') ? quote(';') : undefined);
    if (found === undefined) return;
    report({
      below: [],
      value: display(path),
      message: `Invalid cookie path ${quote(path)}: it contains ${found}, which ends the path. Remove it.`,
    });
  },
);
