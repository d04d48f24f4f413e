import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { recorded } from '../engine/effects.ts';
import type { Backend } from './backend-tls-details.ts';

export const backendHostnameDiffers = unenforcedRule({
  id: 'backend-hostname-differs',
  summary: 'The certificate of an external backend is to have another name than the backend.',
  effect: recorded,
  source: 'Gateway API v1.7.0, BackendTLS.validation and ExternalHostnameBackend.hostname',
}, function judge({ externalHostname, tls }: Backend, report) {
  const [asked, expected] = [externalHostname?.hostname, tls?.validation?.hostname];
  // An address is wrong in itself, and no name for a certificate.
  if (asked === undefined || expected === undefined || asked === expected || isIpAddress(asked)) return;
  report({ below: ['tls', 'validation', 'hostname'], value: display(expected), message: `Requests go to ${quote(asked)}, but its certificate has to be for ${quote(expected)}. Write ${quote(asked)}, unless that is meant.` });
});
