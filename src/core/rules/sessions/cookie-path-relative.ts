import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const cookiePathRelative = unenforcedRule(
  {
    id: 'cookie-path-relative',
    summary: 'The path of a cookie does not start with "/", so browsers ignore it.',
    effect: warned,
    source: 'RFC 6265 section 5.2.4; Gateway API v1.7.0, CookieConfig.path',
  },
  function judge(path: string, report) {
    if (path.startsWith('/')) return;
    report({
      below: [],
      value: display(path),
      message: `Invalid cookie path ${quote(path)}: it does not start with "/", so browsers ignore it. Use ${quote(`/${path}`)}, or remove path.`,
    });
  },
);
