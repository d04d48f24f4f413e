import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { gatewayWith, grpcRouteWith, routeWith } from '../../../../support/rules.ts';

// Some fields are in the experimental channel alone.
const inRule = (rule: object) =>
  found('unsupported-feature', [routeWith(rule)], { bundle: { minor: '1.7', channel: 'experimental' } });
const backend = { name: 'cart', port: 80 };
const served =
  'RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, RequestRedirect, URLRewrite, CORS, ExternalAuth';
const servedOnBackend = 'RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, URLRewrite';
const unsupported = (scope: string) => `Accepted UnsupportedValue ${scope}`;
const redirect = (requestRedirect: object) => ({ filters: [{ type: 'RequestRedirect', requestRedirect }] });
const mirror = (share: object) => ({
  filters: [{ type: 'RequestMirror', requestMirror: { backendRef: backend, ...share } }],
});
const auth = (settings: object) => ({
  type: 'ExternalAuth',
  externalAuth: { protocol: 'HTTP', http: {}, backendRef: backend, ...settings },
});
const cors = (settings: object) => ({ filters: [{ type: 'CORS', cors: settings }] });

describe('unsupported-feature', () => {
  test.each<[string, object, string, string, string]>([
    [
      'a filter that is not served',
      { filters: [{ type: 'Compression' }] },
      'filters[0].type',
      `Unsupported filter type "Compression": its requests are answered with 500. Supported values: ${served}.`,
      unsupported('rule'),
    ],
    [
      'a misspelt filter',
      { filters: [{ type: 'UrlRewrite' }] },
      'filters[0].type',
      'Unsupported filter type "UrlRewrite": its requests are answered with 500. Did you mean URLRewrite?',
      unsupported('rule'),
    ],
    [
      'an extension',
      { filters: [{ type: 'ExtensionRef', extensionRef: {} }] },
      'filters[0].type',
      `Unsupported filter type "ExtensionRef": its requests are answered with 500. Supported values: ${served}.`,
      'ResolvedRefs InvalidKind rule',
    ],
    [
      'a filter on a backendRef',
      { backendRefs: [{ ...backend, filters: [{ type: 'RequestRedirect', requestRedirect: {} }] }] },
      'backendRefs[0].filters[0].type',
      `Unsupported filter type "RequestRedirect" on a backendRef: its requests are answered with 500. Supported values: ${servedOnBackend}.`,
      unsupported('backendRef'),
    ],
    [
      'an extension on a backendRef',
      { backendRefs: [{ ...backend, filters: [{ type: 'ExtensionRef' }] }] },
      'backendRefs[0].filters[0].type',
      `Unsupported filter type "ExtensionRef" on a backendRef: its requests are answered with 500. Supported values: ${servedOnBackend}.`,
      'ResolvedRefs InvalidKind backendRef',
    ],
    [
      'a path match',
      { matches: [{ path: { type: 'Prefix', value: '/' } }] },
      'matches[0].path.type',
      'Unsupported match type "Prefix": the match matches nothing. Supported values: Exact, PathPrefix, RegularExpression.',
      unsupported('match'),
    ],
    [
      'a header match',
      { matches: [{ headers: [{ name: 'a', type: 'exact', value: 'b' }] }] },
      'matches[0].headers[0].type',
      'Unsupported match type "exact": the match matches nothing. Did you mean Exact?',
      unsupported('match'),
    ],
    [
      'a query match',
      { matches: [{ queryParams: [{ name: 'a', type: 'Glob', value: 'b' }] }] },
      'matches[0].queryParams[0].type',
      'Unsupported match type "Glob": the match matches nothing. Supported values: Exact, RegularExpression.',
      unsupported('match'),
    ],
    [
      'a path modifier',
      redirect({ path: { type: 'ReplaceRegex' } }),
      'filters[0].requestRedirect.path.type',
      'Unsupported path modifier "ReplaceRegex": requests that match this rule get an error. Supported values: ReplaceFullPath, ReplacePrefixMatch.',
      unsupported('rule'),
    ],
    [
      'a scheme',
      redirect({ scheme: 'ftp' }),
      'filters[0].requestRedirect.scheme',
      'Unsupported scheme "ftp": requests that match this rule get an error. Supported values: http, https.',
      unsupported('rule'),
    ],
    [
      'a status code',
      redirect({ statusCode: 200 }),
      'filters[0].requestRedirect.statusCode',
      'Unsupported status code of a redirect "200": requests that match this rule get an error. Supported values: 301, 302, 303, 307, 308.',
      unsupported('rule'),
    ],
    [
      'a port',
      redirect({ port: 70_000 }),
      'filters[0].requestRedirect.port',
      'Invalid port 70000: must be between 1 and 65535, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a hostname',
      redirect({ hostname: 'a\r\nb' }),
      'filters[0].requestRedirect.hostname',
      String.raw`Invalid hostname "a\r\nb": label "a\r\nb" contains characters other than a-z, 0-9 and "-". Use the xn-- form of international names.`,
      unsupported('rule'),
    ],
    [
      'a weight',
      { backendRefs: [{ ...backend, weight: -1 }] },
      'backendRefs[0].weight',
      'Invalid weight -1: must be between 0 and 1000000, so its share of requests gets an error.',
      unsupported('backendRef'),
    ],
    [
      'a percentage',
      mirror({ percent: 101 }),
      'filters[0].requestMirror.percent',
      'Invalid percentage 101: must be between 0 and 100, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a fraction greater than one',
      mirror({ fraction: { numerator: 3, denominator: 2 } }),
      'filters[0].requestMirror.fraction.numerator',
      'Invalid numerator 3: must be between 0 and 2, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a fraction of nothing',
      mirror({ fraction: { numerator: 0, denominator: 0 } }),
      'filters[0].requestMirror.fraction.denominator',
      'Invalid denominator 0: must be at least 1, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a share in two ways',
      mirror({ percent: 1, fraction: { numerator: 1 } }),
      'filters[0].requestMirror.percent',
      'percent conflicts with fraction: both set the share of requests to mirror, so requests that match this rule get an error. Remove one of them.',
      unsupported('rule'),
    ],
    [
      'an origin',
      cors({ allowOrigins: ['https://shop.example.com', 'https://*shop.example.com'] }),
      'filters[0].cors.allowOrigins[1]',
      'Invalid origin "https://*shop.example.com": requests that match this rule get an error. Use scheme and host, for example https://shop.example.com or https://*.example.com, or use "*".',
      unsupported('rule'),
    ],
    [
      'a method of CORS',
      cors({ allowMethods: ['GET\r\n'] }),
      'filters[0].cors.allowMethods[0]',
      String.raw`Invalid method or header name "GET\r\n": requests that match this rule get an error. Use a name such as PATCH or x-request-id, or use "*".`,
      unsupported('rule'),
    ],
    [
      'an exposed header',
      cors({ exposeHeaders: ['*', 'a b'] }),
      'filters[0].cors.exposeHeaders[1]',
      'Invalid method or header name "a b": requests that match this rule get an error. Use a name such as PATCH or x-request-id, or use "*".',
      unsupported('rule'),
    ],
    [
      'an age',
      cors({ maxAge: -1 }),
      'filters[0].cors.maxAge',
      'Invalid age -1: must be at least 1, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'an authorization server on a backendRef',
      { backendRefs: [{ ...backend, filters: [auth({})] }] },
      'backendRefs[0].filters[0].type',
      `Unsupported filter type "ExternalAuth" on a backendRef: its requests are answered with 500. Supported values: ${servedOnBackend}.`,
      unsupported('backendRef'),
    ],
    [
      'a protocol of an authorization server',
      { filters: [auth({ protocol: 'SMTP' })] },
      'filters[0].externalAuth.protocol',
      'Unsupported protocol of an authorization server "SMTP": requests that match this rule get an error. Did you mean HTTP?',
      unsupported('rule'),
    ],
    [
      'a body that is too large to be held',
      { filters: [auth({ forwardBody: { maxSize: 1_048_577 } })] },
      'filters[0].externalAuth.forwardBody.maxSize',
      'Invalid maxSize 1048577: must be between 0 and 1048576, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a prefix for an authorization server',
      { filters: [auth({ http: { path: '/a/../b' } })] },
      'filters[0].externalAuth.http.path',
      'Invalid path "/a/../b": its requests get an error. Use a prefix such as /authorize.',
      unsupported('rule'),
    ],
    [
      'attempts',
      { retry: { attempts: -1 } },
      'retry.attempts',
      'Invalid number of attempts -1: must be at least 0, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
    [
      'a code to retry after',
      { retry: { codes: [503, 200] } },
      'retry.codes[1]',
      'Invalid code to retry after 200: must be between 400 and 599, so requests that match this rule get an error.',
      unsupported('rule'),
    ],
  ])('%s', (_, rule, ...[path, message, consequence]) => {
    expect(inRule(rule)).toEqual([[`spec.rules[0].${path}`, message, consequence]]);
  });

  test.each<[string, object, string, string, string]>([
    [
      'an HTTP filter',
      { filters: [{ type: 'URLRewrite' }] },
      'filters[0].type',
      'Unsupported filter type "URLRewrite": its requests are answered with UNAVAILABLE. Supported values: RequestHeaderModifier, ResponseHeaderModifier, RequestMirror.',
      unsupported('rule'),
    ],
    [
      'a type of method match',
      { matches: [{ method: { type: 'Prefix', service: 'shop/' } }] },
      'matches[0].method.type',
      'Unsupported match type "Prefix": the match matches nothing. Supported values: Exact, RegularExpression.',
      unsupported('match'),
    ],
    [
      'a type of header match',
      { matches: [{ headers: [{ name: 'a', type: 'Prefix', value: 'b' }] }] },
      'matches[0].headers[0].type',
      'Unsupported match type "Prefix": the match matches nothing. Supported values: Exact, RegularExpression.',
      unsupported('match'),
    ],
  ])('%s of a GRPCRoute', (_, rule, ...[path, message, consequence]) => {
    expect(found('unsupported-feature', [grpcRouteWith(rule)])).toEqual([
      [`spec.rules[0].${path}`, message, consequence],
    ]);
  });

  test('rules after the first of a route of layer 4, and an unknown TLS mode', () => {
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1alpha2',
      kind: 'TCPRoute',
      metadata: { name: 'db', namespace: 'shop' },
      spec: { rules: [{ backendRefs: [backend] }, { backendRefs: [backend] }] },
    };
    expect(found('unsupported-feature', [route])).toEqual([
      [
        'spec.rules[1]',
        'A TCPRoute forwards all traffic by its first rule, so this rule is ignored. Move its backendRefs to spec.rules[0], or to a TCPRoute of its own.',
        unsupported('rule'),
      ],
    ]);
    expect(
      found('unsupported-feature', [
        gatewayWith({ name: 'tls', port: 443, protocol: 'TLS', tls: { mode: 'Sideways' } }),
      ]),
    ).toEqual([
      [
        'spec.listeners[0].tls.mode',
        'Unsupported TLS mode "Sideways": the listener is not served. Supported values: Terminate, Passthrough.',
        unsupported('listener'),
      ],
    ]);
  });

  test('what is served of a GRPCRoute is fine', () => {
    const matches = [
      {},
      { method: { service: 'shop.v1.Cart', method: 'Add' } },
      { method: { type: 'RegularExpression', method: 'a/b' } },
      { headers: [{ name: 'a', value: 'b' }] },
    ];
    expect(
      found('unsupported-feature', [
        grpcRouteWith({ matches, filters: [{ type: 'RequestMirror', requestMirror: { backendRef: backend } }] }),
      ]),
    ).toEqual([]);
  });

  test('what is served is fine', () => {
    const filters = [
      { type: 'RequestHeaderModifier', requestHeaderModifier: {} },
      { type: 'ResponseHeaderModifier', responseHeaderModifier: {} },
      {
        type: 'RequestRedirect',
        requestRedirect: { scheme: 'https', statusCode: 308, port: 443, hostname: 'Upper.Example.com' },
      },
    ];
    const forwarding = [
      ...filters.slice(0, 2),
      { type: 'URLRewrite', urlRewrite: { hostname: 'a.example.com' } },
      { type: 'RequestMirror', requestMirror: { backendRef: backend, percent: 100 } },
      { type: 'RequestMirror', requestMirror: { backendRef: backend, fraction: { numerator: 0 } } },
    ];
    const shared = {
      type: 'CORS',
      cors: {
        allowOrigins: ['https://*', 'http://*.example.com:8080'],
        allowMethods: ['*'],
        allowHeaders: ['x-a'],
        maxAge: 1,
      },
    };
    const matches = [
      {
        path: { type: 'Exact', value: '/a' },
        headers: [{ name: 'a', value: 'b' }],
        queryParams: [{ name: 'a', type: 'RegularExpression', value: 'b' }],
      },
    ];
    expect(inRule({ filters, matches })).toEqual([]);
    expect(
      inRule({
        filters: [...forwarding, shared],
        retry: { attempts: 0, codes: [400, 599] },
        backendRefs: [
          { ...backend, weight: 0, filters: forwarding },
          { ...backend, weight: 1_000_000 },
        ],
      }),
    ).toEqual([]);
  });

  const inGateway = (spec: object, listeners: readonly object[] = [], minor: '1.3' | '1.7' = '1.7') =>
    found(
      'unsupported-feature',
      [{ ...(gatewayWith() as object), spec: { gatewayClassName: 'sallyport', listeners, ...spec } }],
      { bundle: { minor, channel: 'experimental' } },
    );

  test.each<[string, object, string, string, string]>([
    [
      'a type of address',
      { addresses: [{ type: 'IPAddress' }, { type: 'NamedAddress', value: 'pool-a' }] },
      'spec.addresses[1].type',
      'Unsupported address type "NamedAddress", so the Gateway is not accepted. Supported values: IPAddress, Hostname.',
      'Accepted UnsupportedAddress object',
    ],
    [
      'an address',
      { addresses: [{ value: '192.0.2.1' }, { value: 'a.example.com' }] },
      'spec.addresses[1].value',
      'Invalid IP address "a.example.com", so the Gateway is not accepted. Correct it, or remove value to get any address.',
      'Accepted UnsupportedAddress object',
    ],
    [
      'a hostname',
      {
        addresses: [
          { type: 'Hostname', value: 'a.example.com' },
          { type: 'Hostname', value: '192.0.2.1' },
        ],
      },
      'spec.addresses[1].value',
      'Invalid hostname "192.0.2.1", so the Gateway is not accepted. Use type: IPAddress, or remove value to get any address.',
      'Accepted UnsupportedAddress object',
    ],
    [
      'unknown routability',
      { addresses: [{ routability: 'Cluster' }, { routability: 'example.com/vpc' }] },
      'spec.addresses[1].routability',
      'Unsupported routability "example.com/vpc" for type IPAddress: the Gateway gets no address for this entry. Use type: IPAddress with routability: Cluster, or remove routability.',
      'AddressesAssigned NotAssigned object',
    ],
    [
      'routability of a name',
      { addresses: [{ type: 'Hostname', routability: 'Cluster' }] },
      'spec.addresses[0].routability',
      'Unsupported routability "Cluster" for type Hostname: the Gateway gets no address for this entry. Use type: IPAddress with routability: Cluster, or remove routability.',
      'AddressesAssigned NotAssigned object',
    ],
  ])('%s of a Gateway', (_, spec, ...[path, message, consequence]) => {
    expect(inGateway(spec)).toEqual([[path, message, consequence]]);
  });

  test.each<[object, string, string, string]>([
    [
      { port: 80, name: undefined },
      'name',
      'Name is required: routes and status refer to a listener by its name. The listener is not served. Set a name.',
      unsupported('listener'),
    ],
    [
      { port: 80, filters: { requests: [{ type: 'ExtensionRef' }] } },
      'filters.requests[0].type',
      'Unsupported filter type "ExtensionRef": requests of the listener get an error. Supported values: ExternalAuth.',
      unsupported('listenerFilter'),
    ],
    [
      { port: 80, filters: { requests: [{ type: 'ExternalAuth' }, { type: 'Later' }] } },
      'filters.requests[1].type',
      'Unsupported filter type "Later": requests of the listener get an error. Supported values: ExternalAuth.',
      unsupported('listenerFilter'),
    ],
    [
      { port: 80, filters: { requests: [{ type: 'ExternalAuth', externalAuth: { protocol: 'SOAP' } }] } },
      'filters.requests[0].externalAuth.protocol',
      'Unsupported protocol of an authorization server "SOAP": requests of the listener get an error. Supported values: HTTP, GRPC.',
      'Accepted InvalidListenerFilter listenerFilter',
    ],
    [
      {
        port: 80,
        filters: {
          requests: [{ type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', forwardBody: { maxSize: 2 ** 21 } } }],
        },
      },
      'filters.requests[0].externalAuth.forwardBody.maxSize',
      'Invalid maxSize 2097152: must be between 0 and 1048576, so requests of the listener get an error.',
      'Accepted InvalidListenerFilter listenerFilter',
    ],
    [
      {
        port: 80,
        filters: {
          requests: [
            { type: 'ExternalAuth', externalAuth: { protocol: 'HTTP', http: { allowedResponseHeaders: ['HOST'] } } },
          ],
        },
      },
      'filters.requests[0].externalAuth.http.allowedResponseHeaders[0]',
      'Invalid header "HOST": a filter of a listener must not change Host, so requests of the listener get an error. Remove the entry.',
      'Accepted InvalidListenerFilter listenerFilter',
    ],
    [
      { port: 443, tls: { frontendValidation: {} } },
      'tls.frontendValidation',
      'Unsupported field: client validation is configured on the Gateway, not on listeners. The listener is not served, because without the validation it would admit every client. Use spec.tls.frontend.',
      unsupported('listener'),
    ],
    [
      { port: 0 },
      'port',
      'Invalid port 0, so the listener is not served. Use a number between 1 and 65535.',
      'Accepted PortUnavailable listener',
    ],
    [
      {},
      'port',
      'Port is required, so the listener is not served. Use a number between 1 and 65535.',
      'Accepted PortUnavailable listener',
    ],
  ])('%j on a listener', (listener, path, message, consequence) => {
    // Until v1.3 frontendValidation stood on listeners.
    expect(inGateway({}, [{ name: 'web', protocol: 'HTTP', ...listener }], 'tls' in listener ? '1.3' : '1.7')).toEqual([
      [`spec.listeners[0].${path}`, message, consequence],
    ]);
  });
});
