import { available, experimental, since } from '../../schema/index.ts';
import { extensionReference } from '../filters/filter-contents.ts';
import {
  addressAskedTwice, addressSpeltTwice, classParametersNamespace, clientAuthorityUncommon, clientValidationWithoutListener, infrastructureLabelReserved,
  routabilityUnusual, trustBundleNamespaceIgnored,
} from '../gateways/gateway-details.ts';
import { grantGroup, grantOfEverything, grantRepeated, grantWithinNamespace } from '../references/grants.ts';
import { hostnameIsIp, hostnameLabelTooLong } from '../hostnames/hostnames.ts';
import {
  certificatesWithoutUse, listenerFilterRepeated, listenerFiltersEmpty, optionKey, routeKindRepeated, selectorWithoutEffect, severalCertificates,
  tlsModesMixed,
} from '../listeners/listener-details.ts';
import { kindsOfProtocol, overlapsOnPort, protocolsOnPort } from '../listeners/listeners-together.ts';
import { gatewayClassName, gatewayName } from '../gateways/names.ts';
import { below, merge, type Sites, type SiteTables } from '../official/sites.ts';
import { versionSuperseded } from '../objects/versions.ts';

/** What listeners of Gateways, ListenerSets and XListenerSets have in common. */
const listeners: Sites = merge({ 'spec.listeners': [protocolsOnPort, tlsModesMixed, overlapsOnPort] }, below(['spec.listeners[]'], {
  '': [kindsOfProtocol, certificatesWithoutUse, severalCertificates],
  hostname: [hostnameIsIp, hostnameLabelTooLong],
  'tls.options': [optionKey],
  'allowedRoutes.kinds': [routeKindRepeated],
  'allowedRoutes.namespaces': [selectorWithoutEffect],
  filters: [listenerFiltersEmpty],
  'filters.requests': [listenerFilterRepeated],
  'filters.requests[].extensionRef': [extensionReference],
}));

/** Where the bundle itself does not refuse the namespace. */
const plainTrustBundle = available({ until: { experimental: '1.7' } }, trustBundleNamespaceIgnored);

const clientValidation: Sites = {
  caCertificateRefs: [clientAuthorityUncommon],
  'caCertificateRefs[]': [plainTrustBundle],
};

const gateway: Sites = merge(listeners, below(['spec.tls.frontend.default.validation', 'spec.tls.frontend.perPort[].tls.validation'], clientValidation), {
  '': [gatewayName],
  spec: [clientValidationWithoutListener],
  'spec.gatewayClassName': [gatewayClassName],
  'spec.addresses': [addressSpeltTwice, addressAskedTwice],
  'spec.addresses[]': [experimental('1.7', routabilityUnusual)],
  'spec.allowedListeners.namespaces': [selectorWithoutEffect],
  'spec.infrastructure.labels': [infrastructureLabelReserved],
});

const superseded: Sites = { apiVersion: [versionSuperseded] };

const referenceGrant: Sites = {
  '': [grantWithinNamespace],
  'spec.from': [grantRepeated],
  'spec.from[]': [grantGroup],
  'spec.to': [grantRepeated],
  'spec.to[]': [grantGroup, grantOfEverything],
};

export const unenforcedGatewayTables: SiteTables = {
  Gateway: [{ sites: gateway }, { versions: ['v1beta1'], sites: superseded }],
  GatewayClass: [{ sites: { '': [gatewayName], 'spec.parametersRef': [classParametersNamespace] } }, { versions: ['v1beta1'], sites: superseded }],
  ListenerSet: [{ sites: listeners }],
  XListenerSet: [{ sites: listeners }],
  ReferenceGrant: [{ sites: referenceGrant }, { versions: ['v1alpha2', 'v1beta1'], sites: { apiVersion: [since('1.5', versionSuperseded)] } }],
};
