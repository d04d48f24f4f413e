import { experimental } from '../availability.ts';
import { integer, list, map, object, string } from '../node.ts';
import {
  addressTypePattern, conditions, conditionsDefaulting, gatewayGroup, groupDefaulting, hostname, kind, labelSelector,
  labelValuePattern, localObjectReference, objectReference, port, protocolPattern, secretReference, sectionName,
  waitingStatus,
} from './common.ts';
import { externalAuth } from './external-auth.ts';
import { gatewayTable } from './table.ts';

const addressFields = {
  routability: experimental('1.7', string({ maxLength: 253 })),
  type: string({
    default: 'IPAddress', maxLength: 253, minLength: 1, pattern: addressTypePattern,
    form: 'IPAddress, Hostname, NamedAddress or a type of an implementation, such as example.com/vpc',
  }),
} as const;

/** An address of type IPAddress is one. */
const addressForms = {
  form: 'an IP address such as 192.0.2.1 as value, or a type other than IPAddress',
  oneOf: [
    { properties: { type: { enum: ['IPAddress'] }, value: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] } } },
    { properties: { type: { not: { enum: ['IPAddress'] } } } },
  ],
} as const;

const address = object({ ...addressFields, value: string({ maxLength: 253 }) }, addressForms);
const statusAddress = object(
  { ...addressFields, value: string({ maxLength: 253, minLength: 1 }) },
  { ...addressForms, required: ['value'] },
);

const options = map(string({ maxLength: 4096, minLength: 0 }), { maxProperties: 16 });

const listenerTls = object({
  certificateRefs: list(secretReference, { maxItems: 64, listType: 'atomic' }),
  mode: string({ default: 'Terminate', enum: ['Terminate', 'Passthrough'] }),
  options,
});

const routeKinds = list(
  object({ group: groupDefaulting(gatewayGroup), kind }, { required: ['kind'] }),
  { maxItems: 8, listType: 'atomic' },
);

const allowedRoutes = object({
  kinds: routeKinds,
  namespaces: object({
    from: string({ default: 'Same', enum: ['All', 'Selector', 'Same'] }),
    selector: labelSelector,
  }, { default: { from: 'Same' } }),
}, { default: { namespaces: { from: 'Same' } } });

/** Filters that act on every request of a listener. */
const listenerFilters = object({
  requests: list(object({
    extensionRef: localObjectReference,
    externalAuth,
    type: string({ enum: ['ExternalAuth', 'ExtensionRef'] }),
  }, { required: ['type'] }), { maxItems: 16, listType: 'atomic', semantics: ['filters'] }),
});

const listener = object({
  allowedRoutes,
  filters: experimental('1.7', listenerFilters),
  hostname,
  name: sectionName,
  port,
  protocol: string({
    maxLength: 255, minLength: 1, pattern: protocolPattern,
    form: 'HTTP, HTTPS, TLS, TCP, UDP or a protocol of an implementation, such as example.com/quic',
  }),
  tls: listenerTls,
}, { required: ['name', 'port', 'protocol'] });

/** How clients' certificates are checked. */
const frontendTls = object({
  validation: object({
    caCertificateRefs: list(objectReference, { minItems: 1, maxItems: 16, listType: 'atomic' }),
    mode: string({ default: 'AllowValidOnly', enum: ['AllowValidOnly', 'AllowInsecureFallback'] }),
  }, { required: ['caCertificateRefs'] }),
});

const gatewayTls = object({
  backend: object({ clientCertificateRef: secretReference }),
  frontend: object({
    default: frontendTls,
    perPort: list(
      object({ port, tls: frontendTls }, { required: ['port', 'tls'] }),
      { maxItems: 64, listType: 'map', keys: ['port'] },
    ),
  }, { required: ['default'] }),
});

const infrastructure = object({
  annotations: map(string({ maxLength: 4096, minLength: 0 }), { maxProperties: 16 }),
  labels: map(string({
    maxLength: 63, minLength: 0, pattern: labelValuePattern,
    form: 'a label value of letters, digits, -, _ and ., such as team-a',
  }), { maxProperties: 8 }),
  parametersRef: localObjectReference,
});

const allowedListeners = object({
  namespaces: object({
    from: string({ default: 'None', enum: ['All', 'Selector', 'Same', 'None'] }),
    selector: labelSelector,
  }, { default: { from: 'None' } }),
});

const spec = object({
  addresses: list(address, { maxItems: 16, listType: 'atomic' }),
  allowedListeners,
  defaultScope: experimental('1.4', string({ enum: ['All', 'None'] })),
  gatewayClassName: string({ maxLength: 253, minLength: 1 }),
  infrastructure,
  listeners: list(listener, { minItems: 1, maxItems: 64, listType: 'map', keys: ['name'] }),
  tls: gatewayTls,
}, { required: ['gatewayClassName', 'listeners'] });

const status = object({
  addresses: list(statusAddress, { maxItems: 16, listType: 'atomic' }),
  attachedListenerSets: integer({ format: 'int32' }),
  conditions: conditionsDefaulting('Accepted', 'Programmed'),
  listeners: list(object({
    attachedRoutes: integer({ format: 'int32' }),
    conditions,
    name: sectionName,
    supportedKinds: routeKinds,
  }, { required: ['attachedRoutes', 'conditions', 'name'] }), { maxItems: 64, listType: 'map', keys: ['name'] }),
}, waitingStatus('Accepted', 'Programmed'));

export const gateway = gatewayTable({
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
  versions: [{ name: 'v1', served: true, storage: true }, { name: 'v1beta1', served: true, storage: false }],
  body: object({ spec, status }, { required: ['spec'] }),
});
