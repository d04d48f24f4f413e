import { available, experimental, since } from '../../schema/index.ts';
import { extensionReference } from '../filters/extension-reference.ts';
import { addressAskedTwice } from '../gateways/address-asked-twice.ts';
import { addressSpeltTwice } from '../gateways/address-spelt-twice.ts';
import { classParametersNamespace } from '../gateways/class-parameters-namespace.ts';
import { infrastructureLabelReserved } from '../gateways/infrastructure-label-reserved.ts';
import { routabilityUnusual } from '../gateways/routability-unusual.ts';
import { clientAuthorityUncommon } from '../tls/client-authority-uncommon.ts';
import { clientValidationWithoutListener } from '../tls/client-validation-without-listener.ts';
import { trustBundleNamespaceIgnored } from '../tls/trust-bundle-namespace-ignored.ts';
import { grantGroup } from '../references/grant-group.ts';
import { grantOfEverything } from '../references/grant-of-everything.ts';
import { grantRepeated } from '../references/grant-repeated.ts';
import { grantWithinNamespace } from '../references/grant-within-namespace.ts';
import { hostnameIsIp } from '../hostnames/hostname-is-ip.ts';
import { hostnameLabelTooLong } from '../hostnames/hostname-label-too-long.ts';
import { certificatesWithoutUse } from '../listeners/certificates-without-use.ts';
import { listenerFilterRepeated } from '../listeners/listener-filter-repeated.ts';
import { listenerFiltersEmpty } from '../listeners/listener-filters-empty.ts';
import { optionKey } from '../listeners/option-key.ts';
import { routeKindRepeated } from '../listeners/route-kind-repeated.ts';
import { selectorWithoutEffect } from '../listeners/selector-without-effect.ts';
import { severalCertificates } from '../listeners/several-certificates.ts';
import { tlsModesMixed } from '../listeners/tls-modes-mixed.ts';
import { kindsOfProtocol, overlapsOnPort, protocolsOnPort } from '../listeners/listeners-together.ts';
import { gatewayClassName } from '../gateways/gateway-class-name.ts';
import { gatewayName } from '../gateways/gateway-name.ts';
import { below, fitting, merge, type SiteTables } from '../official/sites.ts';
import { versionSuperseded } from '../objects/version-superseded.ts';

/** The sites of listeners of Gateways, ListenerSets and XListenerSets. */
const listeners = merge(
  { 'spec.listeners': [protocolsOnPort, tlsModesMixed, overlapsOnPort] },
  below(['spec.listeners[]'], {
    '': [kindsOfProtocol, certificatesWithoutUse, severalCertificates],
    hostname: [hostnameIsIp, hostnameLabelTooLong],
    'tls.options': [optionKey],
    'allowedRoutes.kinds': [routeKindRepeated],
    'allowedRoutes.namespaces': [selectorWithoutEffect],
    filters: [listenerFiltersEmpty],
    'filters.requests': [listenerFilterRepeated],
    'filters.requests[].extensionRef': [extensionReference],
  }),
);

/** For bundles that do not reject the namespace themselves. */
const plainTrustBundle = available({ until: { experimental: '1.7' } }, trustBundleNamespaceIgnored);

const clientValidation = {
  caCertificateRefs: [clientAuthorityUncommon],
  'caCertificateRefs[]': [plainTrustBundle],
};

const gateway = merge(
  listeners,
  below(['spec.tls.frontend.default.validation', 'spec.tls.frontend.perPort[].tls.validation'], clientValidation),
  {
    '': [gatewayName],
    spec: [clientValidationWithoutListener],
    'spec.gatewayClassName': [gatewayClassName],
    'spec.addresses': [addressSpeltTwice, addressAskedTwice],
    'spec.addresses[]': [experimental('1.7', routabilityUnusual)],
    'spec.allowedListeners.namespaces': [selectorWithoutEffect],
    'spec.infrastructure.labels': [infrastructureLabelReserved],
  },
);

const superseded = { apiVersion: [versionSuperseded] };

const referenceGrant = {
  '': [grantWithinNamespace],
  'spec.from': [grantRepeated],
  'spec.from[]': [grantGroup],
  'spec.to': [grantRepeated],
  'spec.to[]': [grantGroup, grantOfEverything],
};

export const unenforcedGatewayTables: SiteTables = {
  Gateway: [{ sites: fitting('Gateway', gateway) }, { versions: ['v1beta1'], sites: fitting('Gateway', superseded) }],
  GatewayClass: [
    { sites: fitting('GatewayClass', { '': [gatewayName], 'spec.parametersRef': [classParametersNamespace] }) },
    { versions: ['v1beta1'], sites: fitting('GatewayClass', superseded) },
  ],
  ListenerSet: [{ sites: fitting('ListenerSet', listeners) }],
  XListenerSet: [{ sites: fitting('XListenerSet', listeners) }],
  ReferenceGrant: [
    { sites: fitting('ReferenceGrant', referenceGrant) },
    {
      versions: ['v1alpha2', 'v1beta1'],
      sites: fitting('ReferenceGrant', { apiVersion: [since('1.5', versionSuperseded)] }),
    },
  ],
};
