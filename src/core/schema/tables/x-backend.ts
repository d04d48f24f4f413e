import { fieldDefaults } from '../field-defaults.ts';
import { experimental, since, until } from '../availability.ts';
import { list, map, object, string } from '../node.ts';
import { backendTlsValidation } from './backend-tls-policy.ts';
import {
  conditionItem,
  controllerName,
  labelValue,
  parentReference,
  port,
  preciseHostname,
  secretReference,
} from './common.ts';
import { sessionPersistence } from './session-persistence.ts';
import { experimentalTable, stored } from './table.ts';

const backendPort = object(
  {
    name: until('1.7', string({ maxLength: 63 })),
    number: since('1.7', port),
    port: until('1.7', { ...port, instead: since('1.7', 'number') }),
  },
  { required: [until('1.7', 'port')], minProperties: since('1.7', 1) },
);

const tls = object(
  {
    clientCertificateRef: secretReference,
    mode: string({ enum: ['None', 'ServerOnly', 'ClientAndServer'] }),
    validation: backendTlsValidation,
  },
  { required: ['mode'], default: since('1.7', { mode: fieldDefaults.backendTlsMode }) },
);

const spec = object(
  {
    endpointSelector: since(
      '1.7',
      object({ matchLabels: map(labelValue, { minProperties: 1, maxProperties: 64 }) }, { required: ['matchLabels'] }),
    ),
    externalHostname: object({ hostname: preciseHostname }, { required: ['hostname'] }),
    port: backendPort,
    protocol: string({
      enum: ['TCP', 'HTTP', 'HTTP2', 'HTTP11', 'H2C', 'MCP', since('1.7', 'GRPC'), since('1.7', 'WSS')],
    }),
    sessionPersistence: since('1.7', sessionPersistence),
    tls,
    type: string({ enum: ['ExternalHostname', since('1.7', 'EndpointSelector')] }),
  },
  { required: ['port', 'type'] },
);

const conditions = list(conditionItem, { listType: 'map', keys: ['type'] });
const perController = { maxItems: 32, listType: 'atomic' } as const;

const status = object({
  ancestors: since(
    '1.7',
    list(
      object(
        { ancestorRef: parentReference, conditions, controllerName },
        { required: ['ancestorRef', 'controllerName'] },
      ),
      perController,
    ),
  ),
  parents: until(
    '1.7',
    list(
      object({ conditions, controllerName, parentRef: parentReference }, { required: ['controllerName', 'parentRef'] }),
      perController,
    ),
  ),
});

/** A destination that is not necessarily a Service (GEP-4894). v1.7 changed much of it under the same version. */
export const xBackend = experimentalTable({
  kind: 'XBackend',
  plural: 'xbackends',
  namespaced: true,
  versions: [experimental('1.6', stored('v1alpha1'))],
  body: object({ spec, status }, { required: ['spec'] }),
});
