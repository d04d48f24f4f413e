import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';

export const cookiePathRelative = unenforcedRule({
  id: 'cookie-path-relative',
  summary: 'The path of a cookie does not begin with a slash, so browsers ignore it.',
  effect: warned,
  source: 'RFC 6265 section 5.2.4; Gateway API v1.7.0, CookieConfig.path',
}, function judge(path: string, report) {
  if (path.startsWith('/')) return;
  report({ below: [], value: display(path), message: `Browsers ignore the cookie path ${quote(path)}, since it does not begin with "/". Write ${quote(`/${path}`)}, or leave path out.` });
});
