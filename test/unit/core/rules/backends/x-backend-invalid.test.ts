import { describe, expect, test } from '@jest/globals';
import { xBackendInvalid } from '../../../../../src/core/rules/backends/x-backend-invalid.ts';
import { consequences, judge, objectOf } from '../../../../support/rules.ts';

const usable = { type: 'ExternalHostname', port: { number: 443 }, externalHostname: { hostname: 'api.example.com' } };
const backend = (spec: object): unknown => objectOf('XBackend', 'v1alpha1', spec);

describe('x-backend-invalid', () => {
  test.each<[object]>([
    [usable],
    [{ ...usable, externalHostname: { hostname: 'cluster.local.example.com' } }],
    [{ type: 'EndpointSelector', port: { number: 80 }, endpointSelector: { matchLabels: { app: 'cart' } } }],
    [
      {
        type: 'EndpointSelector',
        port: { number: 80 },
        endpointSelector: { matchLabels: { app: 'cart' } },
        sessionPersistence: { cookie: {} },
      },
    ],
    // Other rules are about values of a wrong type.
    [{ ...usable, port: { number: '443' } }],
  ])('%j is fine', (spec) => {
    expect(judge(xBackendInvalid, backend(spec))).toEqual([]);
  });

  test.each<[object, string, string]>([
    [
      { ...usable, port: { port: 443 } },
      'spec.port',
      'spec.port.number is required since Gateway API v1.7. Set it to the port of the backend.',
    ],
    [
      { type: 'ExternalHostname', port: { number: 443 } },
      'spec.externalHostname.hostname',
      'Invalid hostname "": it is empty. Use a DNS name, for example shop.example.com.',
    ],
    [
      { ...usable, externalHostname: { hostname: '10.0.0.1' } },
      'spec.externalHostname.hostname',
      'Invalid hostname "10.0.0.1": it is an IP address. Use a DNS name, for example shop.example.com.',
    ],
    [
      { ...usable, externalHostname: { hostname: 'cart.shop.svc.cluster.local' } },
      'spec.externalHostname.hostname',
      'Invalid hostname "cart.shop.svc.cluster.local": it is a name inside the cluster. Use a name outside the cluster, or refer to the Service.',
    ],
    [
      { ...usable, externalHostname: { hostname: 'cluster.local' } },
      'spec.externalHostname.hostname',
      'Invalid hostname "cluster.local": it is a name inside the cluster. Use a name outside the cluster, or refer to the Service.',
    ],
    [
      { ...usable, externalHostname: { hostname: '*.example.com' } },
      'spec.externalHostname.hostname',
      'Invalid hostname "*.example.com": it contains a wildcard',
    ],
    [
      { type: 'EndpointSelector', port: { number: 80 } },
      'spec.endpointSelector.matchLabels',
      'endpointSelector.matchLabels is required with type: EndpointSelector. Set at least one label of the pods.',
    ],
    [
      { type: 'EndpointSelector', port: { number: 80 }, endpointSelector: { matchLabels: { app: 'a cart' } } },
      'spec.endpointSelector.matchLabels.app',
      'Invalid selector: invalid label value "a cart".',
    ],
    [
      { ...usable, sessionPersistence: { cookie: {} } },
      'spec.sessionPersistence',
      'sessionPersistence conflicts with type: ExternalHostname. Remove it, or use type: EndpointSelector. Until then, requests to the XBackend get 500.',
    ],
    [{ ...usable, protocol: 'HTTP2' }, 'spec.tls', 'Protocol HTTP2 requires tls.'],
    [{ ...usable, protocol: 'H2C', tls: { mode: 'ServerOnly' } }, 'spec.tls.mode', 'Protocol H2C conflicts with tls'],
  ])('%j', (spec, path, message) => {
    const found = judge(xBackendInvalid, backend(spec));
    expect(found).toEqual([[path, expect.stringContaining(message)]]);
    expect(consequences(xBackendInvalid, backend(spec))).toEqual(['Accepted Invalid object']);
  });
});
