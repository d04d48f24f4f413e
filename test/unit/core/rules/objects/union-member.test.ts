import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('union-member', () => {
  const extAuth = (externalAuth: object): unknown =>
    objectOf('HTTPRoute', 'v1', {
      rules: [
        {
          filters: [
            { type: 'ExternalAuth', externalAuth: { backendRef: { name: 'auth', port: 80 }, ...externalAuth } },
          ],
        },
      ],
    });
  const altName = (subjectAltName: object): unknown =>
    objectOf('BackendTLSPolicy', 'v1', { validation: { subjectAltNames: [subjectAltName] } });
  const session = (sessionPersistence: object): unknown =>
    objectOf('GRPCRoute', 'v1', { rules: [{ sessionPersistence }] });
  const backend = (spec: object): unknown => objectOf('XBackend', 'v1alpha1', spec);
  const hostname = { type: 'ExternalHostname', externalHostname: { hostname: 'a.example' } };
  const tracing = (fields: object): unknown => objectOf('XTelemetryPolicy', 'v1alpha1', { tracing: fields });
  const provider = { backendRef: { name: 'traces', port: 4317 } };

  test.each([
    [extAuth({ protocol: 'GRPC', grpc: {} })],
    [altName({ type: 'URI', uri: 'a:b' })],
    [session({ cookie: {} })],
    [session({ type: 'Header', header: { name: 'x' } })],
    [backend({ ...hostname, tls: { mode: 'None' } })],
    [backend({ ...hostname, tls: { mode: 'ClientAndServer', clientCertificateRef: { name: 'c' }, validation: {} } })],
    [backend({ type: 'EndpointSelector', endpointSelector: {}, sessionPersistence: { cookie: {} } })],
    [
      tracing({
        mode: 'Enabled',
        provider,
        spanName: 'x',
        attributes: [{ name: 'a', sourceType: 'Literal', literalValue: 'b' }],
        parentBasedSampling: {},
      }),
    ],
    [tracing({})],
  ])('%j is fine', (json) => {
    expect(refusals('union-member', json)).toEqual([]);
  });

  test.each<[unknown, string, string]>([
    [
      extAuth({ protocol: 'GRPC' }),
      'spec.rules[0].filters[0].externalAuth.grpc',
      'grpc is required with protocol: GRPC. Set grpc.',
    ],
    [
      extAuth({ protocol: 'GRPC', http: {} }),
      'spec.rules[0].filters[0].externalAuth.protocol',
      'http conflicts with protocol GRPC. Use protocol: HTTP, or replace http with grpc.',
    ],
    [
      extAuth({ protocol: 'HTTP', http: {}, grpc: {} }),
      'spec.rules[0].filters[0].externalAuth.grpc',
      'grpc is not allowed with protocol: HTTP. Remove grpc, or use protocol: GRPC.',
    ],
    [
      altName({ type: 'Hostname' }),
      'spec.validation.subjectAltNames[0].hostname',
      'hostname is required with type: Hostname. Set hostname.',
    ],
    [session({}), 'spec.rules[0].sessionPersistence.cookie', 'cookie is required with type: Cookie. Set cookie.'],
    [
      session({ cookie: {}, header: { name: 'x' } }),
      'spec.rules[0].sessionPersistence.header',
      'header is not allowed with type: Cookie. Remove header, or use type: Header.',
    ],
    [
      backend({ type: 'ExternalHostname' }),
      'spec.externalHostname',
      'externalHostname is required with type: ExternalHostname. Set externalHostname.',
    ],
    [
      backend({ ...hostname, sessionPersistence: { cookie: {} } }),
      'spec.sessionPersistence',
      'sessionPersistence is not allowed with type: ExternalHostname. Remove sessionPersistence, or use type: EndpointSelector.',
    ],
    [
      backend({ ...hostname, tls: { mode: 'ServerOnly' } }),
      'spec.tls.validation',
      'validation is required with mode: ServerOnly. Set validation.',
    ],
    [
      backend({ ...hostname, tls: { mode: 'None', validation: {} } }),
      'spec.tls.validation',
      'validation is not allowed with mode: None. Remove validation, or use mode: ServerOnly or ClientAndServer.',
    ],
    [
      backend({ ...hostname, tls: { mode: 'None', clientCertificateRef: { name: 'c' } } }),
      'spec.tls.clientCertificateRef',
      'clientCertificateRef is not allowed with mode: None. Remove clientCertificateRef, or use mode: ClientAndServer.',
    ],
    [
      tracing({ provider }),
      'spec.tracing.provider',
      'provider is not allowed with mode: ImplementationDefault. Remove provider, or use mode: Enabled.',
    ],
    [tracing({ mode: 'Enabled' }), 'spec.tracing.provider', 'provider is required with mode: Enabled. Set provider.'],
    [
      tracing({ parentBasedSampling: {}, mode: 'Disabled' }),
      'spec.tracing.parentBasedSampling',
      'parentBasedSampling is not allowed with mode: Disabled. Remove parentBasedSampling, or use mode: Enabled.',
    ],
    [
      tracing({ mode: 'Enabled', provider, parentBasedSampling: { samplingRate: { numerator: 1 } } }),
      'spec.tracing.parentBasedSampling.samplingRate',
      'samplingRate is not allowed with mode: ImplementationDefault. Remove samplingRate, or use mode: Enabled.',
    ],
    [
      tracing({ mode: 'Enabled', provider, attributes: [{ name: 'a', sourceType: 'Header', literalValue: 'b' }] }),
      'spec.tracing.attributes[0].sourceType',
      'literalValue conflicts with sourceType Header. Use sourceType: Literal, or replace literalValue with headerName.',
    ],
  ])('%j', (json, path, message) => {
    expect(refusals('union-member', json)).toEqual([[path, message]]);
  });

  test('looks at filters of listeners', () => {
    const gateway = objectOf('Gateway', 'v1', {
      listeners: [{ filters: { requests: [{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP' } }] } }],
    });
    expect(refusals('union-member', gateway).map(([path]) => path)).toEqual([
      'spec.listeners[0].filters.requests[0].externalAuth.http',
    ]);
  });

  test('an unknown type is the concern of the schema', () => {
    expect(refusals('union-member', altName({ type: 'Email', hostname: 'a' }))).toEqual([]);
  });

  test('cookieConfig, which cookie replaced, went with cookies since v1.5 only', () => {
    expect(
      refusingBundles('union-member', session({ type: 'Header', cookieConfig: {}, header: { name: 'x' } })),
    ).toEqual(['experimental 1.5–1.6']);
    expect(refusingBundles('union-member', session({}))).toEqual(['experimental 1.7–1.7']);
  });

  test('validation of an XBackend does not depend on its mode before v1.7', () => {
    expect(refusingBundles('union-member', backend({ ...hostname, tls: { mode: 'ServerOnly' } }))).toEqual([
      'experimental 1.7–1.7',
    ]);
    expect(
      refusingBundles(
        'union-member',
        backend({ ...hostname, tls: { mode: 'ServerOnly', validation: {}, clientCertificateRef: { name: 'c' } } }),
      ),
    ).toEqual(['experimental 1.6–1.7']);
  });
});
