import { demand, specificationRule, type Demand } from '../engine/demand.ts';
import { unionOf, unionViolations, type Union } from '../engine/union.ts';

export const unionMember = specificationRule({
  id: 'union-member',
  summary: 'A field conflicts with the type or mode of its object, or the field for that type or mode is missing.',
  source:
    'Gateway API v1.7.0, unions: HTTPExternalAuthFilter.protocol, SubjectAltName.type, SessionPersistence.type, BackendSpec.type, BackendTLS.mode, Tracing.mode, TracingAttribute.sourceType',
});

function memberOf(variant: string, union: Union): Demand<object> {
  return demand(unionMember, (object: object, report) => unionViolations(union, object, report), variant);
}

export const externalAuthMember = memberOf('externalAuth', unionOf('protocol', { GRPC: 'grpc', HTTP: 'http' }));
export const subjectAltNameMember = memberOf('subjectAltName', unionOf('type', { Hostname: 'hostname', URI: 'uri' }));

/** Since v1.7, cookie and header have one object each. Before, only cookies had settings, and they were optional. */
export const sessionMember = memberOf('session', unionOf('type', { Cookie: 'cookie', Header: 'header' }));
export const cookieConfigMember = memberOf('cookieConfig', {
  discriminator: 'type',
  members: [{ name: 'cookieConfig', types: ['Cookie'], need: 'optional' }],
  others: ['Header'],
});

export const hostnameBackendMember = memberOf('hostname-backend', {
  discriminator: 'type',
  members: [{ name: 'externalHostname', types: ['ExternalHostname'] }],
  others: ['EndpointSelector'],
});
export const selectorBackendMember = memberOf('selector-backend', {
  discriminator: 'type',
  members: [
    { name: 'endpointSelector', types: ['EndpointSelector'] },
    { name: 'sessionPersistence', types: ['EndpointSelector'], need: 'optional' },
  ],
  others: ['ExternalHostname'],
});

export const clientCertificateMember = memberOf('client-certificate', {
  discriminator: 'mode',
  members: [{ name: 'clientCertificateRef', types: ['ClientAndServer'] }],
  others: ['None', 'ServerOnly'],
});
export const backendValidationMember = memberOf('backend-validation', {
  discriminator: 'mode',
  members: [{ name: 'validation', types: ['ServerOnly', 'ClientAndServer'] }],
  others: ['None'],
});

const enabled = ['Enabled'] as const;
const notEnabled = ['Disabled', 'ImplementationDefault'] as const;

export const tracingMember = memberOf('tracing', {
  discriminator: 'mode',
  members: [
    { name: 'provider', types: enabled },
    ...['samplingRate', 'parentBasedSampling', 'serviceName', 'spanName', 'attributes'].map(
      (name) => ({ name, types: enabled, need: 'optional' }) as const,
    ),
  ],
  others: notEnabled,
});
export const parentBasedSamplingMember = memberOf('parent-based-sampling', {
  discriminator: 'mode',
  members: [{ name: 'samplingRate', types: enabled, need: 'optional' }],
  others: notEnabled,
});
export const attributeMember = memberOf(
  'attribute',
  unionOf('sourceType', { Header: 'headerName', Literal: 'literalValue', Attribute: 'attributeKey' }),
);
