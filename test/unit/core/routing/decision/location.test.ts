import { describe, expect, test } from '@jest/globals';
import type { ListenerConfig, PathModifier, RouteMatch } from '../../../../../src/core/routing/config.ts';
import { modifiedPath, redirectLocation, sendableModifier } from '../../../../../src/core/routing/decision/location.ts';
import type { RedirectFilter } from '../../../../../src/core/routing/config.ts';
import { listenerConfig } from '../../../../support/config.ts';
import { routeMatch } from '../../../../support/routes.ts';

const at = { host: 'shop.example', path: '/a/b', search: '?q=1' };
const below = (value: string): RouteMatch => routeMatch({ path: { type: 'PathPrefix', value } });
const http = (port: number): ListenerConfig => listenerConfig('http', { port });
const https = (port: number): ListenerConfig => listenerConfig('https', { port, protocol: 'HTTPS' });
const locate = (listener: ListenerConfig, redirect: Partial<RedirectFilter>, head = at): string =>
  redirectLocation({ type: 'redirect', statusCode: 302, ...redirect }, listener, head, below('/a'));

describe('the Location of a redirect', () => {
  // Gateway API HTTPRequestRedirectFilter.port
  test.each([
    ['scheme and port stay', http(80), {}, 'http://shop.example/a/b?q=1'],
    ['the port of the listener is written', http(8080), {}, 'http://shop.example:8080/a/b?q=1'],
    ['the same over TLS', https(443), {}, 'https://shop.example/a/b?q=1'],
    ['the same over TLS elsewhere', https(8443), {}, 'https://shop.example:8443/a/b?q=1'],
    ['a scheme brings its well-known port', http(8080), { scheme: 'https' }, 'https://shop.example/a/b?q=1'],
    ['also where it is the same scheme', http(8080), { scheme: 'http' }, 'http://shop.example/a/b?q=1'],
    [
      'a scheme without one brings the port of the listener',
      http(8080),
      { scheme: 'gopher' },
      'gopher://shop.example:8080/a/b?q=1',
    ],
    ['a port of its own', http(80), { port: 8083 }, 'http://shop.example:8083/a/b?q=1'],
    ['a port that the scheme implies', http(8080), { port: 80 }, 'http://shop.example/a/b?q=1'],
    ['443 with https', http(80), { scheme: 'https', port: 443 }, 'https://shop.example/a/b?q=1'],
    ['443 with http', http(80), { port: 443 }, 'http://shop.example:443/a/b?q=1'],
    ['80 with https', https(443), { port: 80 }, 'https://shop.example:80/a/b?q=1'],
    ['a hostname', http(80), { hostname: 'new.example' }, 'http://new.example/a/b?q=1'],
    ['a whole path', http(80), { path: { type: 'full', value: '/new' } }, 'http://shop.example/new?q=1'],
    ['a prefix', http(80), { path: { type: 'prefix', value: '/new' } }, 'http://shop.example/new/b?q=1'],
  ] as const)('%s', (_name, listener, redirect, location) => {
    expect(locate(listener, redirect)).toBe(location);
  });

  test('IPv6 hosts stand in brackets; without a host it is relative', () => {
    expect(locate(http(80), {}, { ...at, host: '::1' })).toBe('http://[::1]/a/b?q=1');
    expect(locate(http(80), {}, { ...at, host: '' })).toBe('/a/b?q=1');
  });
});

// Browsers read `//` and `/\\` at the beginning of a Location as the beginning of a host.
describe('the Location of a redirect never names a host that the client put into the path', () => {
  const full: PathModifier = { type: 'full', value: '//evil.example' };
  const stripped: PathModifier = { type: 'prefix', value: '/' };
  test.each([
    ['two slashes', ['/', '//evil.example/x'], undefined, '//evil.example/x?q=1'],
    ['three slashes', ['/', '///evil.example'], undefined, '///evil.example?q=1'],
    ['a prefix that is removed', ['/a', '/a//evil.example'], stripped, '//evil.example?q=1'],
    ['a prefix that becomes empty', ['/a', '/a//evil.example'], { type: 'prefix', value: '' }, '//evil.example?q=1'],
    ['a prefix with two slashes', ['/a', '/a/evil.example'], { type: 'prefix', value: '//' }, '//evil.example?q=1'],
    ['a prefix with a backslash', ['/a', '/a/evil.example'], { type: 'prefix', value: '/\\' }, '/\\/evil.example?q=1'],
    ['a whole path', ['/', '/x'], full, '//evil.example?q=1'],
  ] as const)('%s', (_name, [prefix, path], modifier, sent) => {
    const follow = (host: string): URL => {
      const redirect: RedirectFilter = {
        type: 'redirect',
        statusCode: 302,
        ...(modifier === undefined ? {} : { path: modifier }),
      };
      const location = redirectLocation(redirect, http(80), { ...at, host, path }, below(prefix));
      expect(location).toBe(host === '' ? `/.${sent}` : `http://${host}${sent}`);
      return new URL(location, 'http://shop.example/');
    };
    expect(follow('').href).toBe(follow('shop.example').href);
    expect(follow('').host).toBe('shop.example');
  });
});

describe('modified paths', () => {
  test('a prefix is replaced as far as the match goes, and only where it is one', () => {
    const modifier: PathModifier = { type: 'prefix', value: '/xyz' };
    expect(modifiedPath('/foo/bar', modifier, below('/foo'))).toBe('/xyz/bar');
    expect(modifiedPath('/foo/bar', modifier, routeMatch({ path: { type: 'Exact', value: '/foo/bar' } }))).toBe(
      '/foo/bar',
    );
    expect(modifiedPath('/foo/bar', undefined, below('/foo'))).toBe('/foo/bar');
  });

  test.each([
    ['full', '/a b\r\nx: y', '/a%20b%0D%0Ax:%20y'],
    ['full', '/ü?q#f', '/%C3%BC%3Fq%23f'],
    ['full', 'relative', '/relative'],
    ['full', '/%20', '/%20'],
    ['full', '/\ud800', '/%EF%BF%BD'],
    ['prefix', '', ''],
    ['prefix', '/x y', '/x%20y'],
  ] as const)('%s %j is sent as %j', (type, value, sent) => {
    expect(sendableModifier({ type, value })).toEqual({ type, value: sent });
  });
});
