import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';

export const externalHostnameInternal = specificationRule({
  id: 'external-hostname-internal',
  summary: 'The hostname of an external backend is one of the cluster.',
  source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname; GEP-4894',
});

export const hostnameIsExternal = demand(externalHostnameInternal, function judge(hostname: string, report) {
  if (!hostname.endsWith('.cluster.local')) return;
  report({ below: [], value: display(hostname), message: `${quote(hostname)} is a name of the cluster itself. Refer to the Service instead, or write a hostname outside the cluster.` });
});
