import { between, experimental, since, until, versions } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, list, map, object, string } from '../node.ts';
import {
  addressTypePattern,
  atomic,
  conditionsDefaulting,
  labelSelector,
  labelValue,
  localObjectReference,
  port,
  secretReference,
  waitingStatus,
} from './common.ts';
import { caCertificateRefs, listener, listenerStatuses } from './listener.ts';
import { gatewayTable, v1AndBeta } from './table.ts';

const addressFields = {
  routability: experimental(
    '1.7',
    string({ maxLength: 253, lost: 'Without it, an address that is meant only for the cluster may be public' }),
  ),
  type: string({
    default: fieldDefaults.addressType,
    maxLength: 253,
    minLength: 1,
    pattern: addressTypePattern,
    form: 'IPAddress, Hostname, NamedAddress or a type of an implementation, such as example.com/vpc',
  }),
} as const;

/** The value of an address with the type IPAddress must be an IP address. */
const addressForms = {
  form: 'an IP address such as 192.0.2.1, or a type other than IPAddress',
  oneOf: [
    { properties: { type: { enum: ['IPAddress'] }, value: { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] } } },
    { properties: { type: { not: { enum: ['IPAddress'] } } } },
  ],
} as const;

const address = object(
  { ...addressFields, value: string({ maxLength: 253, minLength: until('1.3', 1) }) },
  { ...addressForms, required: [until('1.3', 'value')] },
);
const statusAddress = object(
  { ...addressFields, value: string({ maxLength: 253, minLength: 1 }) },
  { ...addressForms, required: ['value'] },
);

/** The validation of client certificates. */
const frontendTls = object({
  validation: object(
    {
      caCertificateRefs: caCertificateRefs(versions(8, since('1.6', 16))),
      mode: string({
        default: fieldDefaults.clientValidationMode,
        enum: ['AllowValidOnly', 'AllowInsecureFallback'],
      }),
    },
    { required: ['caCertificateRefs'] },
  ),
});

const gatewayTls = object(
  {
    backend: object({ clientCertificateRef: secretReference }),
    frontend: object(
      {
        default: frontendTls,
        perPort: list(object({ port, tls: frontendTls }, { required: ['port', 'tls'] }), {
          maxItems: 64,
          listType: 'map',
          keys: ['port'],
        }),
      },
      { required: ['default'] },
    ),
  },
  { lost: 'Without it, client certificates are not verified, and the Gateway sends no client certificate to backends' },
);

const infrastructure = object({
  annotations: map(string({ maxLength: 4096, minLength: 0 }), { maxProperties: versions(8, since('1.6', 16)) }),
  labels: map(labelValue, { maxProperties: 8 }),
  parametersRef: since({ experimental: '1.1', standard: '1.2' }, localObjectReference),
});

const allowedListeners = object({
  namespaces: object(
    {
      from: string({ default: fieldDefaults.listenersFrom, enum: ['All', 'Selector', 'Same', 'None'] }),
      selector: labelSelector,
    },
    { default: { from: fieldDefaults.listenersFrom } },
  ),
});

const spec = object(
  {
    addresses: list(address, { maxItems: 16, listType: atomic }),
    allowedListeners: since({ experimental: '1.3', standard: '1.5' }, allowedListeners),
    backendTLS: between(
      { experimental: '1.2' },
      '1.4',
      object(
        { clientCertificateRef: secretReference },
        {
          instead: since({ experimental: '1.4', standard: '1.5' }, 'spec.tls.backend'),
          lost: 'Without it, the Gateway sends no client certificate to backends',
        },
      ),
    ),
    defaultScope: experimental('1.4', string({ enum: ['All', 'None'] })),
    gatewayClassName: string({ maxLength: 253, minLength: 1 }),
    infrastructure: since({ experimental: '1.0', standard: '1.2' }, infrastructure),
    listeners: list(listener, { minItems: 1, maxItems: 64, listType: 'map', keys: ['name'] }),
    tls: since({ experimental: '1.4', standard: '1.5' }, gatewayTls),
  },
  { required: ['gatewayClassName', 'listeners'] },
);

const status = object(
  {
    addresses: list(statusAddress, { maxItems: 16, listType: atomic }),
    attachedListenerSets: since('1.5', integer({ format: 'int32' })),
    conditions: conditionsDefaulting('Accepted', 'Programmed'),
    listeners: listenerStatuses,
  },
  { default: waitingStatus(['Accepted', 'Programmed'], 'Pending') },
);

export const gateway = gatewayTable({
  kind: 'Gateway',
  plural: 'gateways',
  namespaced: true,
  versions: v1AndBeta,
  body: object({ spec, status }, { required: ['spec'] }),
});
