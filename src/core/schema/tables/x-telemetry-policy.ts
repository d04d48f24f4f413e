import { experimental } from '../availability.ts';
import { fieldDefaults } from '../field-defaults.ts';
import { list, object, string } from '../node.ts';
import { atomic, backendObjectReference, fraction, headerName, localObjectReference } from './common.ts';
import { headers } from './http-filters.ts';
import { policyStatus } from './policy.ts';
import { experimentalTable, stored } from './table.ts';

const word = '[a-zA-Z0-9_.:/-]+';
const mode = string({ default: fieldDefaults.telemetryMode, enum: ['Enabled', 'Disabled', 'ImplementationDefault'] });

const attribute = object(
  {
    attributeKey: string({
      maxLength: 256,
      minLength: 1,
      pattern: '^[a-z0-9_.-]+$',
      form: 'a key in lower case, such as http.request.method',
    }),
    headerName,
    literalValue: string({ maxLength: 1024, minLength: 1 }),
    name: string({ maxLength: 256, minLength: 1, pattern: `^${word}$`, form: 'a name such as shop.team' }),
    sourceType: string({ enum: ['Header', 'Literal', 'Attribute'] }),
  },
  { required: ['name', 'sourceType'] },
);

const tracing = object({
  attributes: list(attribute, { listType: 'map', keys: ['name'] }),
  mode,
  parentBasedSampling: object({ mode, samplingRate: fraction }),
  provider: object({ backendRef: backendObjectReference, headers }, { required: ['backendRef'] }),
  samplingRate: fraction,
  serviceName: string({ maxLength: 253, minLength: 1, pattern: `^${word}$`, form: 'a name such as shop/checkout' }),
  spanName: string({
    maxLength: 256,
    minLength: 1,
    pattern: `^${word}( ${word})*$`,
    form: 'words with single spaces between them, such as GET /cart',
  }),
});

const spec = object(
  {
    targetRefs: list(localObjectReference, { minItems: 1, maxItems: 16, listType: atomic }),
    tracing,
  },
  { required: ['targetRefs'] },
);

export const xTelemetryPolicy = experimentalTable({
  kind: 'XTelemetryPolicy',
  plural: 'xtelemetrypolicies',
  namespaced: true,
  versions: [experimental('1.7', stored('v1alpha1'))],
  body: object({ spec, status: policyStatus }, { required: ['spec'] }),
});
