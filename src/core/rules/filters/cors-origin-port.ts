import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';

const port = /:([0-9]+)$/;

export const corsOriginPort = unenforcedRule(
  {
    id: 'cors-origin-port',
    summary: 'A CORS origin has an invalid port.',
    effect: denied,
    source: 'Gateway API v1.7.0, HTTPCORSFilter.allowOrigins (port of 1 to 65535)',
  },
  function judge(origin: string, report) {
    const [, digits] = port.exec(origin) ?? [];
    if (digits === undefined || (Number(digits) >= 1 && Number(digits) <= 65_535)) return;
    report({
      below: [],
      value: display(origin),
      message: `Invalid port ${digits} in origin ${quote(origin)}: must be between 1 and 65535. Correct the port, or remove it.`,
    });
  },
);
