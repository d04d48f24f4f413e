import { experimental, since, until } from '../../schema/index.ts';
import { addressHasHostname, addressIsHostname } from '../gateways/address-hostname.ts';
import { addressesComparable, addressesDistinct } from '../gateways/address-repeated.ts';
import { routabilityIsKnown } from '../gateways/address-routability.ts';
import { filterMember } from '../filters/filter-union.ts';
import { certificate, certificateOrOptions } from '../listeners/listener-certificate-missing.ts';
import {
  filtersNeedHttp,
  httpsTerminates,
  plainWithoutTls,
  secureHasSettings,
  streamsWithoutHostname,
  tlsHasSettings,
} from '../listeners/listener-protocol-fields.ts';
import { listenersDistinct } from '../listeners/listener-repeated.ts';
import { infrastructureKeys } from '../objects/qualified-key.ts';
import { trustBundlesWithoutNamespace } from '../tls/trust-bundle-namespace.ts';
import { externalAuth } from './shared.ts';
import { below, fitting, merge, type SiteGroup } from './sites.ts';

/** The sites of listeners of Gateways, ListenerSets and XListenerSets. */
const listeners = {
  'spec.listeners': [plainWithoutTls, streamsWithoutHostname, since('1.1', httpsTerminates), listenersDistinct],
  'spec.listeners[].tls': [until('1.1', certificate), since('1.1', certificateOrOptions)],
};

const listenerFilters = below(
  ['spec.listeners[].filters.requests[]'],
  merge({ '': [filterMember] }, below(['externalAuth'], externalAuth)),
);

/** Does not apply to XListenerSets, which do not exist since v1.5. */
const tlsSettings = { 'spec.listeners': [since('1.5', tlsHasSettings)] };

const addresses = {
  'spec.addresses': [until('1.4', addressesComparable), since('1.4', addressesDistinct)],
  'spec.addresses[]': [until('1.4', addressHasHostname), since('1.4', addressIsHostname)],
  'spec.addresses[].routability': [routabilityIsKnown],
  'status.addresses[]': [addressHasHostname],
  'status.addresses[].routability': [routabilityIsKnown],
};

export const gatewaySites: readonly SiteGroup[] = [
  {
    sites: fitting(
      'Gateway',
      merge(addresses, listeners, listenerFilters, tlsSettings, {
        'spec.infrastructure.labels': [since('1.2', infrastructureKeys)],
        'spec.infrastructure.annotations': [since('1.2', infrastructureKeys)],
        'spec.listeners': [until('1.1', secureHasSettings)],
        'spec.listeners[]': [experimental('1.7', filtersNeedHttp)],
        'spec.tls.frontend.default.validation.caCertificateRefs': [experimental('1.7', trustBundlesWithoutNamespace)],
        'spec.tls.frontend.perPort[].tls.validation.caCertificateRefs': [
          experimental('1.7', trustBundlesWithoutNamespace),
        ],
      }),
    ),
  },
];

export const listenerSetSites: readonly SiteGroup[] = [
  { sites: fitting('ListenerSet', merge(listeners, listenerFilters, tlsSettings)) },
];
export const xListenerSetSites: readonly SiteGroup[] = [{ sites: fitting('XListenerSet', listeners) }];
