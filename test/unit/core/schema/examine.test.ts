import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { formatPath } from '../../../../src/core/resources/path.ts';
import { allVariants } from '../../../../src/core/schema/availability.ts';
import {
  channels,
  minors,
  schemaTables,
  type Bundle,
  type KindName,
  type KindTable,
  type SchemaKind,
} from '../../../../src/core/schema/index.ts';
import { apiVersionOf } from '../../../../src/core/schema/tables/table.ts';
import { refusedBySchema } from '../../../support/schema.ts';

const standard: Bundle = { minor: '1.7', channel: 'standard' };
const experimental: Bundle = { minor: '1.7', channel: 'experimental' };
const group = 'gateway.networking.k8s.io';

function problems(kind: KindName, spec: unknown, bundle: Bundle = standard): readonly string[] {
  return refusedBySchema(kind, `${group}/v1`, { spec }, bundle).map(
    ({ path, message, keyword }) => `[${keyword}] ${formatPath(path)} ${message}`,
  );
}

const rule = (more: object) => ({ rules: [{ backendRefs: [{ name: 's', port: 80 }], ...more }] });
const listener = { name: 'http', port: 80, protocol: 'HTTP' };
const gateway = (more: object) => ({ gatewayClassName: 'c', listeners: [listener], ...more });

describe('the schema admits', () => {
  test.each(channels)('the smallest objects, channel %s', (channel) => {
    const bundle = { minor: '1.7', channel } as const;
    expect(problems('HTTPRoute', {}, bundle)).toEqual([]);
    expect(problems('GatewayClass', { controllerName: 'example.com/c' }, bundle)).toEqual([]);
    expect(problems('Gateway', gateway({}), bundle)).toEqual([]);
    expect(
      problems(
        'ReferenceGrant',
        { from: [{ group, kind: 'HTTPRoute', namespace: 'a' }], to: [{ group: '', kind: 'Service' }] },
        bundle,
      ),
    ).toEqual([]);
  });

  test('both served versions, and kinds that have no schema here', () => {
    expect(refusedBySchema('HTTPRoute', `${group}/v1beta1`, { spec: {} }, standard)).toEqual([]);
    expect(refusedBySchema('Service', 'v1', { spec: 5 }, standard)).toEqual([]);
  });

  test('bounds at their edges', () => {
    expect(
      problems(
        'HTTPRoute',
        rule({
          timeouts: { request: '99999h' },
          name: 'a'.repeat(253),
          matches: [{ headers: [{ name: 'a', value: 'é' }] }],
        }),
      ),
    ).toEqual([]);
    expect(
      problems('HTTPRoute', {
        ...rule({}),
        parentRefs: [
          { name: 'g', port: 1 },
          { name: 'g', port: 65_535 },
        ],
      }),
    ).toEqual([]);
    expect(
      problems(
        'Gateway',
        gateway({ addresses: [{ value: '192.0.2.1' }, { value: '2001:db8::1' }, { type: 'Hostname', value: 'x' }] }),
      ),
    ).toEqual([]);
  });

  test('characters are counted as code points', () => {
    const match = (value: string) => rule({ matches: [{ queryParams: [{ name: 'q', value }] }] });
    expect(problems('HTTPRoute', match('😀'.repeat(1024)))).toEqual([]);
    expect(problems('HTTPRoute', match('😀'.repeat(1025)))).toEqual([
      '[maxLength] spec.rules[0].matches[0].queryParams[0].value Value too long: it has 1025 characters, and at most 1024 are allowed.',
    ]);
  });
});

describe('the schema says what to write instead of', () => {
  test.each<[string, KindName, unknown, string]>([
    [
      'a missing field',
      'HTTPRoute',
      { parentRefs: [{}] },
      '[required] spec.parentRefs[0].name Value is required. Use a string of at least one character.',
    ],
    [
      'a missing number',
      'Gateway',
      { gatewayClassName: 'c', listeners: [{ name: 'a', protocol: 'HTTP' }] },
      '[required] spec.listeners[0].port Value is required. Use an integer from 1 to 65535.',
    ],
    [
      'a missing list',
      'Gateway',
      { gatewayClassName: 'c' },
      '[required] spec.listeners Value is required. Use a list.',
    ],
    [
      'a missing object',
      'HTTPRoute',
      rule({ filters: [{ type: 'RequestMirror', requestMirror: {} }] }),
      '[required] spec.rules[0].filters[0].requestMirror.backendRef Value is required. Use an object with name.',
    ],
    [
      'a number for a string',
      'HTTPRoute',
      { hostnames: [5] },
      '[type] spec.hostnames[0] Invalid type: must be a string, not 5. Put it in quotes: "5".',
    ],
    [
      'a string for a number',
      'HTTPRoute',
      { parentRefs: [{ name: 'g', port: '80' }] },
      '[type] spec.parentRefs[0].port Invalid type: must be an integer, not the string "80". Remove the quotes: 80.',
    ],
    [
      'a string for a boolean',
      'HTTPRoute',
      rule({ filters: [{ type: 'CORS', cors: { allowCredentials: 'true' } }] }),
      '[type] spec.rules[0].filters[0].cors.allowCredentials Invalid type: must be true or false, not the string "true". Remove the quotes: true.',
    ],
    [
      'an object for a list',
      'HTTPRoute',
      { parentRefs: { name: 'g' } },
      '[type] spec.parentRefs Invalid type: must be a list, not an object. Start each item with a dash.',
    ],
    [
      'a list for an object',
      'HTTPRoute',
      rule({ timeouts: ['1s'] }),
      '[type] spec.rules[0].timeouts Invalid type: must be an object, not a list. Its fields are backendRequest, request.',
    ],
    [
      'null in a list',
      'HTTPRoute',
      { hostnames: [null] },
      '[type] spec.hostnames[0] Invalid type: must be a string, not null.',
    ],
    [
      'a fraction for an integer',
      'HTTPRoute',
      { parentRefs: [{ name: 'g', port: 80.5 }] },
      '[type] spec.parentRefs[0].port Invalid type: must be an integer, not 80.5.',
    ],
    [
      'a value near a known one',
      'HTTPRoute',
      rule({ matches: [{ path: { type: 'PathPrefx' } }] }),
      '[enum] spec.rules[0].matches[0].path.type Unsupported value "PathPrefx". Supported values: Exact, PathPrefix, RegularExpression. Did you mean PathPrefix?',
    ],
    [
      'part of a known value',
      'HTTPRoute',
      rule({ matches: [{ path: { type: 'Prefix' } }] }),
      '[enum] spec.rules[0].matches[0].path.type Unsupported value "Prefix". Supported values: Exact, PathPrefix, RegularExpression. Did you mean PathPrefix?',
    ],
    [
      'a value near none',
      'HTTPRoute',
      rule({ matches: [{ path: { type: 'Glob' } }] }),
      '[enum] spec.rules[0].matches[0].path.type Unsupported value "Glob". Supported values: Exact, PathPrefix, RegularExpression.',
    ],
    [
      'a code that is none',
      'HTTPRoute',
      rule({ filters: [{ type: 'RequestRedirect', requestRedirect: { statusCode: 304 } }] }),
      '[enum] spec.rules[0].filters[0].requestRedirect.statusCode Unsupported value 304. Supported values: 301, 302, 303, 307, 308.',
    ],
    [
      'a name in upper case',
      'HTTPRoute',
      { hostnames: ['Shop.example'] },
      '[pattern] spec.hostnames[0] Invalid value "Shop.example". Use a DNS name in lower case, such as shop.example.com or *.example.com.',
    ],
    [
      'an odd duration',
      'HTTPRoute',
      rule({ timeouts: { request: '5 s' } }),
      '[pattern] spec.rules[0].timeouts.request Invalid value "5 s". Use a duration such as 500ms, 10s or 1h30m.',
    ],
    [
      'an empty string',
      'HTTPRoute',
      { hostnames: [''] },
      '[minLength] spec.hostnames[0] Value is empty. Use a DNS name in lower case, such as shop.example.com or *.example.com.',
    ],
    [
      'too small a number',
      'HTTPRoute',
      { parentRefs: [{ name: 'g', port: 0 }] },
      '[minimum] spec.parentRefs[0].port Invalid value 0. Use an integer from 1 to 65535.',
    ],
    [
      'too big a number',
      'HTTPRoute',
      rule({ backendRefs: [{ name: 's', weight: 1_000_001 }] }),
      '[maximum] spec.rules[0].backendRefs[0].weight Invalid value 1000001. Use an integer from 0 to 1000000.',
    ],
    [
      'a number without upper end',
      'HTTPRoute',
      rule({ retry: { attempts: -1 } }),
      '[minimum] spec.rules[0].retry.attempts Invalid value -1. Use an integer of at least 0.',
    ],
    [
      'more than 32 bits',
      'HTTPRoute',
      rule({ filters: [{ type: 'CORS', cors: { maxAge: 2 ** 31 } }] }),
      '[format] spec.rules[0].filters[0].cors.maxAge Invalid value 2147483648. Use a 32-bit integer.',
    ],
    ['an empty list', 'HTTPRoute', { rules: [] }, '[minItems] spec.rules List is empty. Add at least one item.'],
    [
      'a list too long',
      'HTTPRoute',
      { hostnames: Array.from({ length: 17 }, (_, i) => `a${i}`) },
      '[maxItems] spec.hostnames Too many items: the list has 17, and at most 16 are allowed.',
    ],
    [
      'too many labels',
      'Gateway',
      gateway({ infrastructure: { labels: Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`l${i}`, 'x'])) } }),
      '[maxProperties] spec.infrastructure.labels Too many entries: the map has 9, and at most 8 are allowed.',
    ],
    [
      'a bad label value',
      'Gateway',
      gateway({ infrastructure: { labels: { 'a/b': '-' } } }),
      '[pattern] spec.infrastructure.labels["a/b"] Invalid value "-". Use a label value of letters, digits, -, _ and ., such as team-a.',
    ],
    [
      'an address that is none',
      'Gateway',
      gateway({ addresses: [{ value: 'foo' }] }),
      '[oneOf] spec.addresses[0] Invalid value. Use an IP address such as 192.0.2.1, or a type other than IPAddress.',
    ],
    [
      'two listeners of one name',
      'Gateway',
      gateway({ listeners: [listener, listener] }),
      '[duplicate] spec.listeners[1] Duplicate name "http": item 0 has the same. Use distinct values.',
    ],
    [
      'a repeated item of a set',
      'HTTPRoute',
      rule({ retry: { codes: [500, 503, 500] } }),
      '[duplicate] spec.rules[0].retry.codes[2] Duplicate value 500: item 0 is the same. Remove one of them.',
    ],
    [
      'a misspelt field',
      'HTTPRoute',
      { hostname: ['a'] },
      '[unknown] spec.hostname Unknown field in v1.7 standard, so the API server drops it. Did you mean hostnames?',
    ],
    [
      'a field out of nowhere',
      'HTTPRoute',
      rule({ timeouts: { idle: '1s', request: '2s' } }),
      '[unknown] spec.rules[0].timeouts.idle Unknown field in v1.7 standard, so the API server drops it. Known fields: backendRequest, request.',
    ],
    [
      'a field of the other channel',
      'HTTPRoute',
      { useDefaultGateways: 'All' },
      '[unknown] spec.useDefaultGateways Unknown field: it is in the experimental channel since v1.4, not in v1.7 standard, so the API server drops it.',
    ],
    [
      'a value of the other channel',
      'HTTPRoute',
      rule({ filters: [{ type: 'ExternalAuth' }] }),
      '[enum] spec.rules[0].filters[0].type Unsupported value "ExternalAuth": it is in the experimental channel since v1.4, not in v1.7 standard. Use one of RequestHeaderModifier, ResponseHeaderModifier, RequestMirror, RequestRedirect, URLRewrite, ExtensionRef, CORS.',
    ],
    [
      'no object at all',
      'HTTPRoute',
      'x',
      '[type] spec Invalid type: must be an object, not the string "x". Its fields are hostnames, parentRefs, rules.',
    ],
  ])('%s', (_name, kind, spec, expected) => {
    expect(problems(kind, spec)).toEqual([expected]);
  });

  test('a version that is not served', () => {
    expect(refusedBySchema('HTTPRoute', `${group}/v1alpha2`, { spec: {} }, standard)).toEqual([
      {
        path: ['apiVersion'],
        message:
          'Unsupported version "gateway.networking.k8s.io/v1alpha2": v1.7 standard does not serve it. Use gateway.networking.k8s.io/v1 or gateway.networking.k8s.io/v1beta1.',
        keyword: 'enum',
      },
    ]);
  });

  test('a missing spec', () => {
    expect(
      refusedBySchema('Gateway', `${group}/v1`, {}, standard).map(({ path, keyword }) => [formatPath(path), keyword]),
    ).toEqual([['spec', 'required']]);
  });
});

describe('examine', () => {
  test('judges by the channel', () => {
    const spec = { useDefaultGateways: 'All', ...rule({ matches: [{ headers: [{ name: 'a', value: 'é' }] }] }) };
    expect(problems('HTTPRoute', spec, experimental)).toEqual([
      '[pattern] spec.rules[0].matches[0].headers[0].value Invalid value "é". Use printable ASCII characters with single spaces between them.',
    ]);
  });

  test('names everything that is wrong at once, unknown fields last', () => {
    const found = problems('HTTPRoute', { hostnam: 1, parentRefs: [{ name: '' }, { name: 'g', port: 0 }], rules: [] });
    expect(found.map((line) => line.slice(0, line.indexOf(']') + 1))).toEqual([
      '[minLength]',
      '[minimum]',
      '[minItems]',
      '[unknown]',
    ]);
  });

  test('items without their key are no duplicates of each other', () => {
    const found = refusedBySchema(
      'Gateway',
      `${group}/v1`,
      {
        spec: gateway({
          listeners: [
            { port: 80, protocol: 'HTTP' },
            { port: 81, protocol: 'HTTP' },
          ],
        }),
      },
      standard,
    );
    expect(found.map(({ path, keyword }) => [formatPath(path), keyword])).toEqual([
      ['spec.listeners[0].name', 'required'],
      ['spec.listeners[1].name', 'required'],
    ]);
  });

  test('what has the wrong type is not judged further', () => {
    expect(problems('HTTPRoute', rule({ matches: [{ method: 5 }] }))).toEqual([
      '[type] spec.rules[0].matches[0].method Invalid type: must be a string, not 5. Put it in quotes: "5".',
    ]);
  });

  test('names of prototypes are unknown fields like others', () => {
    const json: unknown = JSON.parse('{"spec": {"__proto__": {"rules": 5}, "constructor": 1}}');
    const found = refusedBySchema('HTTPRoute', `${group}/v1`, json, standard);
    expect(found.map(({ path, keyword }) => [formatPath(path), keyword])).toEqual([
      ['spec.__proto__', 'unknown'],
      ['spec.constructor', 'unknown'],
    ]);
  });

  test('tells of at most 100 errors and 100 unknown fields', () => {
    const unknown = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, i]));
    const found = problems('HTTPRoute', {
      ...unknown,
      hostnames: Array.from({ length: 50_000 }, () => 5),
      ...rule({ retry: { codes: Array.from({ length: 50_000 }, () => 'a') } }),
    });
    expect(found).toHaveLength(200);
    expect(found.filter((line) => line.startsWith('[unknown]'))).toHaveLength(100);
  });

  test('a list without limit has one all the same', () => {
    const values = Array.from({ length: 10_001 }, (_, i) => `v${i}`);
    const selector = { matchExpressions: [{ key: 'a', operator: 'In', values }] };
    const spec = gateway({
      listeners: [{ ...listener, allowedRoutes: { namespaces: { from: 'Selector', selector } } }],
    });
    expect(problems('Gateway', spec)).toEqual([
      '[maxItems] spec.listeners[0].allowedRoutes.namespaces.selector.matchExpressions[0].values Too many items: there are 10001, and at most 10000 are validated. Use at most 10000.',
    ]);
  });

  test('never throws, whatever JSON stands in whatever field', () => {
    const versions = Object.entries<KindTable>(schemaTables).flatMap(([kind, table]) =>
      table.versions
        .flatMap(allVariants)
        .map(({ name }) => ({ kind: kind as SchemaKind, apiVersion: apiVersionOf(table, name) })),
    );
    const names = fc.constantFrom(
      'rules',
      'matches',
      'path',
      'value',
      'listeners',
      'tls',
      'addresses',
      'from',
      '__proto__',
      'labels',
      'name',
      '~1/',
    );
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 5 },
        fc.jsonValue(),
        fc.dictionary(names, tie('node')),
        fc.array(tie('node'), { maxLength: 3 }),
      ),
    })).node;
    fc.assert(
      fc.property(
        fc.constantFrom(...versions),
        fc.constantFrom(...minors),
        fc.constantFrom(...channels),
        value,
        ({ kind, apiVersion }, minor, channel, json) => {
          for (const object of [json, { spec: json }, { status: json }]) {
            const found = refusedBySchema(kind, apiVersion, object, { minor, channel });
            for (const problem of found) expect(problem.message).not.toMatch(/undefined|NaN|\[object/);
          }
        },
      ),
    );
  });
});
