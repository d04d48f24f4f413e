import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';

export const externalHostnameIsIp = unenforcedRule(
  {
    id: 'external-hostname-is-ip',
    summary: 'The hostname of an external backend is an IP address.',
    effect: denied,
    source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname ("must not be an IP address"); GEP-4894',
  },
  function judge(hostname: string, report) {
    if (!isIpAddress(hostname)) return;
    const risk = hostname.startsWith('169.254.') ? ' (the address of a cloud metadata service)' : '';
    report({
      below: [],
      value: display(hostname),
      message: `Invalid hostname ${quote(hostname)}: it is an IP address${risk}. Use the DNS name of the external backend, or refer to a Service.`,
    });
  },
);
