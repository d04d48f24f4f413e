import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Backend } from './backend-tls-details.ts';

export const backendHostnameDiffers = unenforcedRule(
  {
    id: 'backend-hostname-differs',
    summary: 'The hostname to verify differs from the hostname of the external backend.',
    effect: recorded,
    source: 'Gateway API v1.7.0, BackendTLS.validation and ExternalHostnameBackend.hostname',
  },
  function judge({ externalHostname, tls }: Backend, report) {
    const [requested, expected] = [externalHostname?.hostname, tls?.validation?.hostname];
    // An address is invalid anyway, and cannot be the name in a certificate.
    if (requested === undefined || expected === undefined || requested === expected || isIpAddress(requested)) return;
    report({
      below: ['tls', 'validation', 'hostname'],
      value: display(expected),
      message: `Requests go to ${quote(requested)}, but the certificate is verified for ${quote(expected)}. Use ${quote(requested)}, unless this is intended.`,
    });
  },
);
