import { display, quote } from '../../text/display.ts';
import { isIpAddress } from '../../text/hostname.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { denied, deniedWhenStrict } from '../engine/effects.ts';

// Where an external backend may not lead: what is meant for the inside of a cluster or machine would be open to routes.

export const externalHostnameIsIp = unenforcedRule({
  id: 'external-hostname-is-ip',
  summary: 'The hostname of an external backend is an IP address.',
  effect: denied,
  source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname ("must not be an IP address"); GEP-4894',
}, function judge(hostname: string, report) {
  if (!isIpAddress(hostname)) return;
  const risk = hostname.startsWith('169.254.') ? ', and that of the metadata of a cloud at that' : '';
  report({ below: [], value: display(hostname), message: `${quote(hostname)} is an IP address${risk}; an external backend goes by its DNS name. Write that, or refer to a Service.` });
});

const insideEndings = ['.svc', '.localhost'];
const insideNames: ReadonlySet<string> = new Set(['cluster.local', 'metadata.google.internal']);

/** Bundles refuse names that end with .cluster.local. */
export const externalHostnameLocal = unenforcedRule({
  id: 'external-hostname-local',
  summary: 'The hostname of an external backend is one of this machine or cluster.',
  effect: deniedWhenStrict,
  source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname; GEP-4894 (confused deputy); CVE-2021-25740',
}, function judge(hostname: string, report) {
  if (hostname.endsWith('.cluster.local')) return;
  // A name of one label is looked up among the Services of the namespace first.
  if (hostname.includes('.') && !insideNames.has(hostname) && !insideEndings.some((ending) => hostname.endsWith(ending))) return;
  report({ below: [], value: display(hostname), message: `${quote(hostname)} leads to this machine or cluster, past the checks that references to Services are subject to. Refer to the Service instead, or write a name outside.` });
});
