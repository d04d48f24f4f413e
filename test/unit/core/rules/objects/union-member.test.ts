import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('union-member', () => {
  const extAuth = (externalAuth: object): unknown => objectOf('HTTPRoute', 'v1', { rules: [{ filters: [{ type: 'ExternalAuth', externalAuth: { backendRef: { name: 'auth', port: 80 }, ...externalAuth } }] }] });
  const altName = (subjectAltName: object): unknown => objectOf('BackendTLSPolicy', 'v1', { validation: { subjectAltNames: [subjectAltName] } });
  const session = (sessionPersistence: object): unknown => objectOf('GRPCRoute', 'v1', { rules: [{ sessionPersistence }] });
  const backend = (spec: object): unknown => objectOf('XBackend', 'v1alpha1', spec);
  const hostname = { type: 'ExternalHostname', externalHostname: { hostname: 'a.example' } };
  const tracing = (fields: object): unknown => objectOf('XTelemetryPolicy', 'v1alpha1', { tracing: fields });
  const provider = { backendRef: { name: 'traces', port: 4317 } };

  test.each([
    [extAuth({ protocol: 'GRPC', grpc: {} })], [altName({ type: 'URI', uri: 'a:b' })], [session({ cookie: {} })], [session({ type: 'Header', header: { name: 'x' } })],
    [backend({ ...hostname, tls: { mode: 'None' } })], [backend({ ...hostname, tls: { mode: 'ClientAndServer', clientCertificateRef: { name: 'c' }, validation: {} } })],
    [backend({ type: 'EndpointSelector', endpointSelector: {}, sessionPersistence: { cookie: {} } })],
    [tracing({ mode: 'Enabled', provider, spanName: 'x', attributes: [{ name: 'a', sourceType: 'Literal', literalValue: 'b' }], parentBasedSampling: {} })], [tracing({})],
  ])('%j is fine', (json) => {
    expect(refusals('union-member', json)).toEqual([]);
  });

  test.each<[unknown, string, string]>([
    [extAuth({ protocol: 'GRPC' }), 'spec.rules[0].filters[0].externalAuth.grpc', 'The protocol is GRPC, but grpc is missing. Write grpc beside protocol.'],
    [extAuth({ protocol: 'GRPC', http: {} }), 'spec.rules[0].filters[0].externalAuth.protocol', 'The protocol is GRPC, but http is set. Write protocol: HTTP, or replace http by grpc.'],
    [extAuth({ protocol: 'HTTP', http: {}, grpc: {} }), 'spec.rules[0].filters[0].externalAuth.grpc', 'grpc is set although the protocol is HTTP. Remove grpc; what it does needs protocol: GRPC.'],
    [altName({ type: 'Hostname' }), 'spec.validation.subjectAltNames[0].hostname', 'The type is Hostname, but hostname is missing. Write hostname beside type.'],
    [session({}), 'spec.rules[0].sessionPersistence.cookie', 'The type is Cookie, but cookie is missing. Write cookie beside type.'],
    [session({ cookie: {}, header: { name: 'x' } }), 'spec.rules[0].sessionPersistence.header', 'header is set although the type is Cookie. Remove header; what it does needs type: Header.'],
    [backend({ type: 'ExternalHostname' }), 'spec.externalHostname', 'The type is ExternalHostname, but externalHostname is missing. Write externalHostname beside type.'],
    [backend({ ...hostname, sessionPersistence: { cookie: {} } }), 'spec.sessionPersistence', 'sessionPersistence is set although the type is ExternalHostname. Remove sessionPersistence; what it does needs type: EndpointSelector.'],
    [backend({ ...hostname, tls: { mode: 'ServerOnly' } }), 'spec.tls.validation', 'The mode is ServerOnly, but validation is missing. Write validation beside mode.'],
    [backend({ ...hostname, tls: { mode: 'None', validation: {} } }), 'spec.tls.validation', 'validation is set although the mode is None. Remove validation; what it does needs mode: ServerOnly or ClientAndServer.'],
    [backend({ ...hostname, tls: { mode: 'None', clientCertificateRef: { name: 'c' } } }), 'spec.tls.clientCertificateRef', 'clientCertificateRef is set although the mode is None. Remove clientCertificateRef; what it does needs mode: ClientAndServer.'],
    [tracing({ provider }), 'spec.tracing.provider', 'provider is set although the mode is ImplementationDefault. Remove provider; what it does needs mode: Enabled.'],
    [tracing({ mode: 'Enabled' }), 'spec.tracing.provider', 'The mode is Enabled, but provider is missing. Write provider beside mode.'],
    [tracing({ parentBasedSampling: {}, mode: 'Disabled' }), 'spec.tracing.parentBasedSampling', 'parentBasedSampling is set although the mode is Disabled. Remove parentBasedSampling; what it does needs mode: Enabled.'],
    [tracing({ mode: 'Enabled', provider, parentBasedSampling: { samplingRate: { numerator: 1 } } }), 'spec.tracing.parentBasedSampling.samplingRate', 'samplingRate is set although the mode is ImplementationDefault. Remove samplingRate; what it does needs mode: Enabled.'],
    [tracing({ mode: 'Enabled', provider, attributes: [{ name: 'a', sourceType: 'Header', literalValue: 'b' }] }), 'spec.tracing.attributes[0].sourceType', 'The sourceType is Header, but literalValue is set. Write sourceType: Literal, or replace literalValue by headerName.'],
  ])('%j', (json, path, message) => {
    expect(refusals('union-member', json)).toEqual([[path, message]]);
  });

  test('looks at filters of listeners', () => {
    const gateway = objectOf('Gateway', 'v1', { listeners: [{ filters: { requests: [{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP' } }] } }] });
    expect(refusals('union-member', gateway).map(([path]) => path)).toEqual(['spec.listeners[0].filters.requests[0].externalAuth.http']);
  });

  test('an unknown type is the concern of the schema', () => {
    expect(refusals('union-member', altName({ type: 'Email', hostname: 'a' }))).toEqual([]);
  });

  test('cookieConfig, which cookie replaced, went with cookies since v1.5 only', () => {
    expect(refusingBundles('union-member', session({ type: 'Header', cookieConfig: {}, header: { name: 'x' } }))).toEqual(['experimental 1.5–1.6']);
    expect(refusingBundles('union-member', session({}))).toEqual(['experimental 1.7–1.7']);
  });

  test('validation of an XBackend does not depend on its mode before v1.7', () => {
    expect(refusingBundles('union-member', backend({ ...hostname, tls: { mode: 'ServerOnly' } }))).toEqual(['experimental 1.7–1.7']);
    expect(refusingBundles('union-member', backend({ ...hostname, tls: { mode: 'ServerOnly', validation: {}, clientCertificateRef: { name: 'c' } } }))).toEqual(['experimental 1.6–1.7']);
  });
});
