import { display, quote } from '../../text/display.ts';
import { demand, specificationRule } from '../engine/demand.ts';

export const externalHostnameInternal = specificationRule({
  id: 'external-hostname-internal',
  summary: 'The hostname of an external backend is a name inside the cluster.',
  source: 'Gateway API v1.7.0, ExternalHostnameBackend.hostname; GEP-4894',
});

export const hostnameIsExternal = demand(externalHostnameInternal, function judge(hostname: string, report) {
  if (!hostname.endsWith('.cluster.local')) return;
  report({
    below: [],
    value: display(hostname),
    message: `Invalid hostname ${quote(hostname)}: it is a name inside the cluster. Refer to the Service instead, or use a hostname outside the cluster.`,
  });
});
