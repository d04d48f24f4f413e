import { between, experimental, since, until, type MaybeVersioned } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { integer, list, object, string } from '../node.ts';
import {
  atomic,
  conditions,
  groupDefaulting,
  hostname,
  kind,
  labelSelector,
  localObjectReference,
  objectReference,
  port,
  protocolPattern,
  secretReference,
  sectionName,
  tlsOptions,
} from './common.ts';
import { externalAuth } from './external-auth.ts';

// Listeners of Gateways and of ListenerSets.

/** The CA certificates for the validation of client certificates. */
export function caCertificateRefs(maxItems: MaybeVersioned<number>) {
  return list(objectReference, { minItems: 1, maxItems, listType: atomic });
}

const listenerTls = object({
  certificateRefs: list(secretReference, { maxItems: 64, listType: atomic }),
  frontendValidation: between(
    { experimental: '1.1' },
    '1.4',
    object(
      { caCertificateRefs: caCertificateRefs(8) },
      {
        instead: since({ experimental: '1.4', standard: '1.5' }, 'spec.tls.frontend of the Gateway'),
        lost: 'Without it, client certificates are not verified',
      },
    ),
  ),
  mode: string({ default: fieldDefaults.tlsMode, enum: ['Terminate', 'Passthrough'] }),
  options: tlsOptions,
});

const routeKinds = list(
  object({ group: groupDefaulting(fieldDefaults.routeKindGroup), kind }, { required: ['kind'] }),
  {
    maxItems: 8,
    listType: atomic,
  },
);

const allowedRoutes = object(
  {
    kinds: routeKinds,
    namespaces: object(
      {
        from: string({ default: fieldDefaults.routesFrom, enum: ['All', 'Selector', 'Same'] }),
        selector: labelSelector,
      },
      { default: { from: fieldDefaults.routesFrom } },
    ),
  },
  { default: { namespaces: { from: fieldDefaults.routesFrom } } },
);

/** Filters for every request of a listener. */
const listenerFilters = object(
  {
    requests: list(
      object(
        {
          extensionRef: localObjectReference,
          externalAuth,
          type: string({ enum: ['ExternalAuth', 'ExtensionRef'] }),
        },
        { required: ['type'] },
      ),
      { maxItems: 16, listType: atomic, semantics: ['filters'] },
    ),
  },
  { lost: 'Without it, requests pass without the authentication that these filters require' },
);

export const listenerFields = {
  allowedRoutes,
  filters: experimental('1.7', listenerFilters),
  hostname,
  name: sectionName,
  port,
  protocol: string({
    maxLength: 255,
    minLength: 1,
    pattern: protocolPattern,
    form: 'HTTP, HTTPS, TLS, TCP, UDP or a protocol of an implementation, such as example.com/quic',
  }),
  tls: listenerTls,
} as const;

export const listener = object(listenerFields, { required: ['name', 'port', 'protocol'] });

export const listenerStatusFields = {
  attachedRoutes: integer({ format: 'int32' }),
  conditions,
  name: sectionName,
  supportedKinds: routeKinds,
} as const;

/** One entry per listener. */
export const listenerStatuses = list(
  object(listenerStatusFields, { required: ['attachedRoutes', 'conditions', 'name', until('1.5', 'supportedKinds')] }),
  { maxItems: 64, listType: 'map', keys: ['name'] },
);
