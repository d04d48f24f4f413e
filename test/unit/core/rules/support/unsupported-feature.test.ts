import { describe, expect, test } from '@jest/globals';
import { found } from '../../../../support/evaluation.ts';
import { gatewayWith, grpcRouteWith, routeWith } from '../../../../support/rules.ts';

const inRule = (rule: object) => found('unsupported-feature', [routeWith(rule)]);
const backend = { name: 'cart', port: 80 };
const served = 'RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, RequestRedirect, URLRewrite, CORS';
const servedOnBackend = 'RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, URLRewrite';
const unsupported = (scope: string) => `Accepted UnsupportedValue ${scope}`;
const redirect = (requestRedirect: object) => ({ filters: [{ type: 'RequestRedirect', requestRedirect }] });
const mirror = (share: object) => ({ filters: [{ type: 'RequestMirror', requestMirror: { backendRef: backend, ...share } }] });
const cors = (settings: object) => ({ filters: [{ type: 'CORS', cors: settings }] });

describe('unsupported-feature', () => {
  test.each<[string, object, string, string, string]>([
    ['a filter that is not served', { filters: [{ type: 'ExternalAuth', externalAuth: {} }] }, 'filters[0].type', `A filter of type "ExternalAuth" is not served; requests that would pass it are answered 500. Known here: ${served}.`, unsupported('rule')],
    ['a misspelt filter', { filters: [{ type: 'UrlRewrite' }] }, 'filters[0].type', 'A filter of type "UrlRewrite" is not served; requests that would pass it are answered 500. Did you mean URLRewrite?', unsupported('rule')],
    ['an extension', { filters: [{ type: 'ExtensionRef', extensionRef: {} }] }, 'filters[0].type', `A filter of type "ExtensionRef" is not served; requests that would pass it are answered 500. Known here: ${served}.`, 'ResolvedRefs InvalidKind rule'],
    ['a filter on a backendRef', { backendRefs: [{ ...backend, filters: [{ type: 'RequestRedirect', requestRedirect: {} }] }] }, 'backendRefs[0].filters[0].type', `A filter of type "RequestRedirect" on a backendRef is not served; requests that would pass it are answered 500. Known here: ${servedOnBackend}.`, unsupported('backendRef')],
    ['an extension on a backendRef', { backendRefs: [{ ...backend, filters: [{ type: 'ExtensionRef' }] }] }, 'backendRefs[0].filters[0].type', `A filter of type "ExtensionRef" on a backendRef is not served; requests that would pass it are answered 500. Known here: ${servedOnBackend}.`, 'ResolvedRefs InvalidKind backendRef'],
    ['a path match', { matches: [{ path: { type: 'Prefix', value: '/' } }] }, 'matches[0].path.type', 'The match type "Prefix" is unknown, so this match matches nothing. Known here: Exact, PathPrefix, RegularExpression.', unsupported('match')],
    ['a header match', { matches: [{ headers: [{ name: 'a', type: 'exact', value: 'b' }] }] }, 'matches[0].headers[0].type', 'The match type "exact" is unknown, so this match matches nothing. Did you mean Exact?', unsupported('match')],
    ['a query match', { matches: [{ queryParams: [{ name: 'a', type: 'Glob', value: 'b' }] }] }, 'matches[0].queryParams[0].type', 'The match type "Glob" is unknown, so this match matches nothing. Known here: Exact, RegularExpression.', unsupported('match')],
    ['a path modifier', redirect({ path: { type: 'ReplaceRegex' } }), 'filters[0].requestRedirect.path.type', 'The path modifier "ReplaceRegex" is unknown, so requests of this rule get an error. Known here: ReplaceFullPath, ReplacePrefixMatch.', unsupported('rule')],
    ['a scheme', redirect({ scheme: 'ftp' }), 'filters[0].requestRedirect.scheme', 'The scheme "ftp" is unknown, so requests of this rule get an error. Known here: http, https.', unsupported('rule')],
    ['a status code', redirect({ statusCode: 200 }), 'filters[0].requestRedirect.statusCode', 'The status code of a redirect "200" is unknown, so requests of this rule get an error. Known here: 301, 302, 303, 307, 308.', unsupported('rule')],
    ['a port', redirect({ port: 70_000 }), 'filters[0].requestRedirect.port', 'There is no port 70000, so requests of this rule get an error. Write a number from 1 to 65535.', unsupported('rule')],
    ['a hostname', redirect({ hostname: 'a\r\nb' }), 'filters[0].requestRedirect.hostname', String.raw`"a\r\nb" cannot stand in a URL: the label "a\r\nb" holds characters other than a-z, 0-9 and "-"; write international names in their xn-- form.`, unsupported('rule')],
    ['a weight', { backendRefs: [{ ...backend, weight: -1 }] }, 'backendRefs[0].weight', 'There is no weight -1, so its share of requests gets an error. Write a number from 0 to 1000000.', unsupported('backendRef')],
    ['a percentage', mirror({ percent: 101 }), 'filters[0].requestMirror.percent', 'There is no percentage 101, so requests of this rule get an error. Write a number from 0 to 100.', unsupported('rule')],
    ['a fraction greater than one', mirror({ fraction: { numerator: 3, denominator: 2 } }), 'filters[0].requestMirror.fraction.numerator', 'There is no numerator 3, so requests of this rule get an error. Write a number from 0 to 2.', unsupported('rule')],
    ['a fraction of nothing', mirror({ fraction: { numerator: 0, denominator: 0 } }), 'filters[0].requestMirror.fraction.denominator', 'There is no denominator 0, so requests of this rule get an error. Write a number of at least 1.', unsupported('rule')],
    ['a share in two ways', mirror({ percent: 1, fraction: { numerator: 1 } }), 'filters[0].requestMirror.percent', 'percent and fraction both say how many requests to mirror, so requests of this rule get an error. Keep one of them.', unsupported('rule')],
    ['an origin', cors({ allowOrigins: ['https://shop.example.com', 'https://*shop.example.com'] }), 'filters[0].cors.allowOrigins[1]', '"https://*shop.example.com" is no origin, so requests of this rule get an error. Write scheme and host, such as https://shop.example.com or https://*.example.com, or *.', unsupported('rule')],
    ['a method of CORS', cors({ allowMethods: ['GET\r\n'] }), 'filters[0].cors.allowMethods[0]', String.raw`"GET\r\n" cannot be the name of a method or header, so requests of this rule get an error. Write a name such as PATCH or x-request-id, or *.`, unsupported('rule')],
    ['an exposed header', cors({ exposeHeaders: ['*', 'a b'] }), 'filters[0].cors.exposeHeaders[1]', '"a b" cannot be the name of a method or header, so requests of this rule get an error. Write a name such as PATCH or x-request-id, or *.', unsupported('rule')],
    ['an age', cors({ maxAge: -1 }), 'filters[0].cors.maxAge', 'There is no age -1, so requests of this rule get an error. Write a number of at least 1.', unsupported('rule')],
    ['attempts', { retry: { attempts: -1 } }, 'retry.attempts', 'There is no number of attempts -1, so requests of this rule get an error. Write a number of at least 0.', unsupported('rule')],
    ['a code to retry after', { retry: { codes: [503, 200] } }, 'retry.codes[1]', 'There is no code to retry after 200, so requests of this rule get an error. Write a number from 400 to 599.', unsupported('rule')],
  ])('%s', (_, rule, ...[path, message, consequence]) => {
    expect(inRule(rule)).toEqual([[`spec.rules[0].${path}`, message, consequence]]);
  });

  test.each<[string, object, string, string, string]>([
    ['an HTTP filter', { filters: [{ type: 'URLRewrite' }] }, 'filters[0].type', 'A filter of type "URLRewrite" is not served; requests that would pass it are answered UNAVAILABLE. Known here: RequestHeaderModifier, ResponseHeaderModifier, RequestMirror.', unsupported('rule')],
    ['a type of method match', { matches: [{ method: { type: 'Prefix', service: 'shop/' } }] }, 'matches[0].method.type', 'The match type "Prefix" is unknown, so this match matches nothing. Known here: Exact, RegularExpression.', unsupported('match')],
    ['a type of header match', { matches: [{ headers: [{ name: 'a', type: 'Prefix', value: 'b' }] }] }, 'matches[0].headers[0].type', 'The match type "Prefix" is unknown, so this match matches nothing. Known here: Exact, RegularExpression.', unsupported('match')],
  ])('%s of a GRPCRoute', (_, rule, ...[path, message, consequence]) => {
    expect(found('unsupported-feature', [grpcRouteWith(rule)])).toEqual([[`spec.rules[0].${path}`, message, consequence]]);
  });

  test('what is served of a GRPCRoute is fine', () => {
    const matches = [{}, { method: { service: 'shop.v1.Cart', method: 'Add' } }, { method: { type: 'RegularExpression', method: 'a/b' } }, { headers: [{ name: 'a', value: 'b' }] }];
    expect(found('unsupported-feature', [grpcRouteWith({ matches, filters: [{ type: 'RequestMirror', requestMirror: { backendRef: backend } }] })])).toEqual([]);
  });

  test('what is served is fine', () => {
    const filters = [
      { type: 'RequestHeaderModifier', requestHeaderModifier: {} }, { type: 'ResponseHeaderModifier', responseHeaderModifier: {} },
      { type: 'RequestRedirect', requestRedirect: { scheme: 'https', statusCode: 308, port: 443, hostname: 'Upper.Example.com' } },
    ];
    const forwarding = [
      ...filters.slice(0, 2), { type: 'URLRewrite', urlRewrite: { hostname: 'a.example.com' } },
      { type: 'RequestMirror', requestMirror: { backendRef: backend, percent: 100 } }, { type: 'RequestMirror', requestMirror: { backendRef: backend, fraction: { numerator: 0 } } },
    ];
    const shared = { type: 'CORS', cors: { allowOrigins: ['https://*', 'http://*.example.com:8080'], allowMethods: ['*'], allowHeaders: ['x-a'], maxAge: 1 } };
    const matches = [{ path: { type: 'Exact', value: '/a' }, headers: [{ name: 'a', value: 'b' }], queryParams: [{ name: 'a', type: 'RegularExpression', value: 'b' }] }];
    expect(inRule({ filters, matches })).toEqual([]);
    expect(inRule({ filters: [...forwarding, shared], retry: { attempts: 0, codes: [400, 599] }, backendRefs: [{ ...backend, weight: 0, filters: forwarding }, { ...backend, weight: 1_000_000 }] })).toEqual([]);
  });

  const inGateway = (spec: object, listeners: readonly object[] = [], minor: '1.3' | '1.7' = '1.7') =>
    found('unsupported-feature', [{ ...(gatewayWith() as object), spec: { gatewayClassName: 'sallyport', listeners, ...spec } }], { bundle: { minor, channel: 'experimental' } });

  test.each<[string, object, string, string, string]>([
    ['a type of address', { addresses: [{ type: 'IPAddress' }, { type: 'NamedAddress', value: 'pool-a' }] }, 'spec.addresses[1].type', 'Addresses of the type "NamedAddress" are not known here, so the Gateway is not served. Known here: IPAddress, Hostname.', 'Accepted UnsupportedAddress object'],
    ['an address', { addresses: [{ value: '192.0.2.1' }, { value: 'a.example.com' }] }, 'spec.addresses[1].value', '"a.example.com" is no IP address, so the Gateway is not served. Write one, or leave value out for any.', 'Accepted UnsupportedAddress object'],
    ['a hostname', { addresses: [{ type: 'Hostname', value: 'a.example.com' }, { type: 'Hostname', value: '192.0.2.1' }] }, 'spec.addresses[1].value', '"192.0.2.1" is no hostname, so the Gateway is not served. Write type: IPAddress, or leave value out for any.', 'Accepted UnsupportedAddress object'],
    ['routability', { addresses: [{ routability: 'Cluster' }] }, 'spec.addresses[0]', 'From where an address can be reached cannot be chosen yet, so the Gateway is not served: it could be open to more than is meant. Remove routability.', 'Accepted UnsupportedAddress object'],
  ])('%s of a Gateway', (_, spec, ...[path, message, consequence]) => {
    expect(inGateway(spec)).toEqual([[path, message, consequence]]);
  });

  test.each<[object, string, string, string]>([
    [{ port: 80, name: undefined }, 'name', 'The listener has no name, by which routes and status would find it, so it is not served. Write one.', unsupported('listener')],
    [{ port: 80, filters: { requests: [{ type: 'ExtensionRef' }] } }, 'filters', 'Filters of a listener are not served yet, so the listener is not: without them requests would pass unchecked. Remove filters.', unsupported('listener')],
    [{ port: 443, tls: { frontendValidation: {} } }, 'tls.frontendValidation', 'Certificates of clients are checked by what the Gateway says, not by its listeners, so the listener is not served: without that check it would let anybody in. Write it under spec.tls.frontend.', unsupported('listener')],
    [{ port: 0 }, 'port', 'There is no port 0, so it is not served. Write a number from 1 to 65535.', 'Accepted PortUnavailable listener'],
    [{}, 'port', 'The listener has no port, so it is not served. Write a number from 1 to 65535.', 'Accepted PortUnavailable listener'],
  ])('%j on a listener', (listener, path, message, consequence) => {
    // Until v1.3 frontendValidation stood on listeners.
    expect(inGateway({}, [{ name: 'web', protocol: 'HTTP', ...listener }], 'tls' in listener ? '1.3' : '1.7')).toEqual([[`spec.listeners[0].${path}`, message, consequence]]);
  });
});
