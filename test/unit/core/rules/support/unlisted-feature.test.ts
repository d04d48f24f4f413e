import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../../support/ownership.ts';

const controller = 'example.com/controller';

function world(features: readonly string[]): readonly object[] {
  return [gatewayClass('theirs', controller, features), gatewayOf('theirs')];
}

function route(
  rule: object,
  { kind = 'HTTPRoute', ...more }: { readonly kind?: string; readonly parentRefs?: readonly object[] } = {},
): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind,
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: [{ name: 'theirs' }], rules: [rule], ...more },
  };
}

const says = (feature: string, className = 'theirs', by = controller) =>
  `GatewayClass "${className}" of the controller ${by} does not list the feature ${feature} in status.supportedFeatures, so it may ignore or reject this. Remove it, or attach the route to a Gateway of a class that lists ${feature}.`;

/** The places that the rule finds, with features. */
function unlisted(object: object, others: readonly object[]): readonly (readonly [string, string])[] {
  return found('unlisted-feature', [object, ...others]).map(([path, message]) => [
    path,
    /the feature (\w+)/.exec(message)?.[1] ?? '',
  ]);
}

describe('unlisted-feature', () => {
  test('names class, controller and feature', () => {
    expect(found('unlisted-feature', [route({ timeouts: { request: '1s' } }), ...world(['HTTPRoute'])])).toEqual([
      ['spec.rules[0].timeouts.request', says('HTTPRouteRequestTimeout'), 'none'],
    ]);
  });

  test.each<[string, object, string, readonly string[]]>([
    ['rule name', { name: 'a' }, 'name', ['HTTPRouteNamedRouteRule']],
    ['method', { matches: [{}, { method: 'GET' }] }, 'matches[1].method', ['HTTPRouteMethodMatching']],
    [
      'query parameters',
      { matches: [{ queryParams: [{ name: 'a', value: 'b' }] }] },
      'matches[0].queryParams',
      ['HTTPRouteQueryParamMatching'],
    ],
    ['backend timeout', { timeouts: { backendRequest: '1s' } }, 'timeouts.backendRequest', ['HTTPRouteBackendTimeout']],
    ['retries on codes', { retry: { codes: [503] } }, 'retry.codes', ['HTTPRouteRetryCodes', 'HTTPRouteRetry']],
    [
      'retries',
      { retry: { attempts: 2 } },
      'retry',
      ['HTTPRouteRetryConnectionError', 'HTTPRouteRetryCodes', 'HTTPRouteRetry'],
    ],
    [
      'response headers',
      { filters: [{ type: 'ResponseHeaderModifier', responseHeaderModifier: { remove: ['a'] } }] },
      'filters[0].responseHeaderModifier',
      ['HTTPRouteResponseHeaderModification'],
    ],
    [
      'mirror',
      { filters: [{ type: 'RequestMirror', requestMirror: { backendRef: { name: 'a', port: 1 } } }] },
      'filters[0].requestMirror',
      ['HTTPRouteRequestMirror'],
    ],
    [
      'scheme of a redirect',
      { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }] },
      'filters[0].requestRedirect.scheme',
      ['HTTPRouteSchemeRedirect'],
    ],
    [
      'port of a redirect',
      { filters: [{ type: 'RequestRedirect', requestRedirect: { port: 443 } }] },
      'filters[0].requestRedirect.port',
      ['HTTPRoutePortRedirect'],
    ],
    [
      'path of a redirect',
      {
        filters: [
          { type: 'RequestRedirect', requestRedirect: { path: { type: 'ReplaceFullPath', replaceFullPath: '/' } } },
        ],
      },
      'filters[0].requestRedirect.path',
      ['HTTPRoutePathRedirect'],
    ],
    [
      'status of a redirect',
      { filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 308 } }] },
      'filters[0].requestRedirect.statusCode',
      ['HTTPRoute308RedirectStatusCode'],
    ],
    [
      'hostname',
      { filters: [{ type: 'URLRewrite', urlRewrite: { hostname: 'a.example' } }] },
      'filters[0].urlRewrite.hostname',
      ['HTTPRouteHostRewrite'],
    ],
    [
      'path',
      { filters: [{ type: 'URLRewrite', urlRewrite: { path: { type: 'ReplaceFullPath', replaceFullPath: '/' } } }] },
      'filters[0].urlRewrite.path',
      ['HTTPRoutePathRewrite'],
    ],
    ['CORS', { filters: [{ type: 'CORS', cors: { allowOrigins: ['*'] } }] }, 'filters[0].cors', ['HTTPRouteCORS']],
    [
      'request headers of a backend',
      {
        backendRefs: [
          {
            name: 'a',
            port: 1,
            filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { remove: ['a'] } }],
          },
        ],
      },
      'backendRefs[0].filters[0].requestHeaderModifier',
      ['HTTPRouteBackendRequestHeaderModification'],
    ],
  ])('of a field: %s', (_field, rule, place, names) => {
    expect(unlisted(route(rule), world(['HTTPRoute']))).toEqual([[`spec.rules[0].${place}`, names[0]]]);
    for (const name of names) expect(unlisted(route(rule), world(['HTTPRoute', name]))).toEqual([]);
  });

  test('of several mirrors and of shares', () => {
    const mirror = { type: 'RequestMirror', requestMirror: { backendRef: { name: 'a', port: 1 }, percent: 5 } };
    expect(unlisted(route({ filters: [mirror, mirror] }), world(['HTTPRoute', 'HTTPRouteRequestMirror']))).toEqual([
      ['spec.rules[0].filters[0].requestMirror.percent', 'HTTPRouteRequestPercentageMirror'],
      ['spec.rules[0].filters[1].requestMirror', 'HTTPRouteRequestMultipleMirrors'],
    ]);
  });

  test('of what the port of a Service speaks', () => {
    const service = {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { ports: [{ port: 80, appProtocol: 'kubernetes.io/h2c' }] },
    };
    expect(unlisted(route({ backendRefs: [{ name: 'cart', port: 80 }] }), [...world(['HTTPRoute']), service])).toEqual([
      ['spec.rules[0].backendRefs[0]', 'HTTPRouteBackendProtocolH2C'],
    ]);
  });

  test('of the port of a parentRef', () => {
    expect(unlisted(route({}, { parentRefs: [{ name: 'theirs', port: 80 }] }), world(['HTTPRoute']))).toEqual([
      ['spec.parentRefs[0].port', 'HTTPRouteParentRefPort'],
    ]);
    expect(
      unlisted(
        route({}, { parentRefs: [{ name: 'theirs', port: 80 }] }),
        world(['HTTPRoute', 'HTTPRouteDestinationPortMatching']),
      ),
    ).toEqual([]);
  });

  test('of a kind', () => {
    expect(unlisted(route({ backendRefs: [] }, { kind: 'GRPCRoute' }), world(['HTTPRoute']))).toEqual([
      ['kind', 'GRPCRoute'],
    ]);
    const tcp = route({ backendRefs: [{ name: 'db', port: 5432 }] }, { kind: 'TCPRoute' });
    expect(unlisted(tcp, world(['HTTPRoute']))).toEqual([['kind', 'TCPRoute']]);
    expect(unlisted(tcp, world(['TCPRoute']))).toEqual([]);
  });

  test('judges each class by itself', () => {
    const others = [
      gatewayClass('a', 'example.com/a', ['HTTPRoute']),
      gatewayOf('a'),
      gatewayClass('b', 'example.com/b', ['HTTPRoute', 'HTTPRouteCORS']),
      gatewayOf('b'),
    ];
    const object = route(
      { filters: [{ type: 'CORS', cors: { allowOrigins: ['*'] } }] },
      { parentRefs: [{ name: 'a' }, { name: 'b' }] },
    );
    expect(found('unlisted-feature', [object, ...others])).toEqual([
      ['spec.rules[0].filters[0].cors', says('HTTPRouteCORS', 'a', 'example.com/a'), 'none'],
    ]);
  });

  test('finds nothing where a class lists nothing, is ours or not known', () => {
    const timed = route({ timeouts: { request: '1s' } });
    expect(unlisted(timed, world([]))).toEqual([]);
    expect(unlisted(timed, [])).toEqual([]);
    expect(
      unlisted(timed, [gatewayClass('theirs', 'sallyport.dev/gateway-controller', ['HTTPRoute']), gatewayOf('theirs')]),
    ).toEqual([]);
  });

  test('reads the names alone that classes listed before v1.2', () => {
    const old = { ...gatewayClass('theirs', controller), status: { supportedFeatures: ['HTTPRoute', 7, null] } };
    expect(unlisted(route({ timeouts: { request: '1s' } }), [old, gatewayOf('theirs')])).toEqual([
      ['spec.rules[0].timeouts.request', 'HTTPRouteRequestTimeout'],
    ]);
  });
});
