import { describe, expect, test } from '@jest/globals';
import { xBackendUnsupported } from '../../../../../src/core/rules/backends/x-backend-unsupported.ts';
import { consequences, judge, objectOf } from '../../../../support/rules.ts';

const usable = { type: 'ExternalHostname', port: { number: 443 }, externalHostname: { hostname: 'api.example.com' } };
const backend = (spec: object): unknown => objectOf('XBackend', 'v1alpha1', spec);

describe('x-backend-unsupported', () => {
  const selecting = {
    type: 'EndpointSelector',
    port: { number: 80 },
    endpointSelector: { matchLabels: { app: 'cart' } },
  };

  test.each<[object]>([
    [usable],
    [selecting],
    [{ ...usable, protocol: 'GRPC' }],
    [{ ...usable, tls: { mode: 'None' } }],
    [{ ...usable, tls: { mode: 'ClientAndServer', clientCertificateRef: { name: 'client' }, validation: {} } }],
    [{ ...selecting, sessionPersistence: { type: 'Header', header: { name: 'x-session' } } }],
    // Another rule is about this conflict.
    [{ ...usable, sessionPersistence: { cookie: { lifetimeType: 'Session' } } }],
  ])('%j is fine', (spec) => {
    expect(judge(xBackendUnsupported, backend(spec))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [
      { ...usable, type: 'example.com/Pool' },
      'spec.type',
      'Unsupported type "example.com/Pool". Use type: ExternalHostname or EndpointSelector.',
    ],
    [
      { ...usable, protocol: 'MCP' },
      'spec.protocol',
      'Unsupported protocol "MCP". Use one of HTTP, HTTP11, HTTP2, H2C, GRPC, WSS, TCP.',
    ],
    [
      { ...usable, tls: { mode: 'Mutual' } },
      'spec.tls.mode',
      'Unsupported mode "Mutual". Use mode: None, ServerOnly or ClientAndServer.',
    ],
    [
      { ...selecting, sessionPersistence: { type: 'header' } },
      'spec.sessionPersistence.type',
      'Unsupported type "header". Did you mean Header?',
    ],
    [
      { ...selecting, sessionPersistence: { cookie: { lifetimeType: 'Forever' } } },
      'spec.sessionPersistence.cookie.lifetimeType',
      'Unsupported lifetimeType "Forever". Supported values: Session, Permanent.',
    ],
  ])('%j', (spec, path, message) => {
    expect(judge(xBackendUnsupported, backend(spec))).toEqual([
      [path, `${message} Until then, requests to the XBackend get 500.`],
    ]);
    expect(consequences(xBackendUnsupported, backend(spec))).toEqual(['Accepted UnsupportedValue object']);
  });
});
