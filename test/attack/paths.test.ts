import { afterEach, describe, expect, test } from '@jest/globals';
import type { RouteRule } from '../../src/core/routing/config.ts';
import { outcomesOf } from '../../src/core/routing/decision/outcome.ts';
import type { AccessLogEntry } from '../../src/proxy/handling/access-log.ts';
import { defaultLimits } from '../../src/proxy/limits/limits.ts';
import { readHttp1Head } from '../../src/proxy/messages/request-head.ts';
import { closeBackends, startEcho, startRawBackend } from '../support/backends.ts';
import type { Echo } from '../support/backends.ts';
import { endpointsConfig } from '../support/config.ts';
import { frame, frameTypes, literal, openFrames, closeHttp2 } from '../support/http2.ts';
import { backendOf, closeProxies, fieldValues, sendRaw, startProxy, web, webRoute } from '../support/proxy.ts';
import { routeMatch, routeRule } from '../support/routes.ts';
import { eventually } from '../support/eventually.ts';
import { randomFrom, scaled, seed } from './support/scale.ts';

afterEach(closeHttp2);
afterEach(closeProxies);
afterEach(closeBackends);

/** Parts of paths that servers read in different ways. */
const segments = [
  'admin',
  'ADMIN',
  'Admin',
  'public',
  '.',
  '..',
  '...',
  '%2e',
  '%2E%2e',
  '.%2e',
  '%2e.',
  '',
  '%2f',
  '%2F..%2f',
  '..%2fadmin',
  '..;',
  ';',
  ';a=b',
  'admin;x',
  '%3b',
  '\\',
  '..\\',
  '%5c',
  '%5C..',
  '%00',
  '%0a',
  '%0d%0a',
  '%20',
  '%25',
  '%252e',
  '%252f',
  '%c0%ae',
  '%c0%af',
  '%e0%80%ae',
  '%ef%bc%8f',
  '%61dmin',
  '%41',
  '~',
  '%7e',
  '*',
  ':',
  '@',
  '&',
  '=',
  '|',
  '^',
  '{x}',
  '"',
  '<',
  '>',
  '`',
  '[',
  ']',
  '%zz',
  '%',
  '%2',
  '\0',
  '\t',
  ' ',
  '\xe9',
  '\xc0\xae',
  '\x7f',
  'a#b',
  '#',
];
const queries = ['', '?', '?a=/../b', '?%2e%2e', '?a#b', '?a?b', '?\\', '?%00', '?"<>', '?\xe9'];
const targets = [
  '*',
  'admin',
  '.',
  '',
  'http://other/admin',
  'http://shop@other/',
  'http://other',
  'HTTP://Other:80/a/../admin',
  'http:/admin',
  'http:admin',
  'https://other/',
  'ftp://other/',
  '//other/admin',
  '///',
  'other:443',
  'http://other\\@shop/',
  'http://[::1]/',
  'http:///admin',
  '?admin',
  '/\\other',
];
const hosts = [
  'shop',
  'SHOP',
  'Shop.',
  'shop..',
  '.shop',
  'shop:80',
  'shop:',
  'shop:0',
  'shop:65536',
  'shop:080',
  'shop:x',
  'a..shop',
  '.',
  '',
  ':80',
  'u@shop',
  'u:p@shop',
  'shop/',
  'shop?',
  'shop#',
  'shop\\',
  'shop, other',
  'shop other',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::1]',
  '[::1]:80',
  '[::1',
  '::1',
  '[::1%25a]',
  '%73hop',
  'shop%00',
  'shop\0',
  'sh\xf6p',
  'xn--shp-fka',
  `${'a'.repeat(64)}.shop`,
  '*',
  '*.shop',
  'shop;a',
  'sub.shop',
  'SUB.Shop.:80',
];

function rule(index: number, type: 'Exact' | 'PathPrefix', value: string, parts: Partial<RouteRule> = {}): RouteRule {
  return { ...routeRule(index, routeMatch({ path: { type, value } })), backends: [backendOf('app')], ...parts };
}

const rules = [
  rule(0, 'PathPrefix', '/'),
  rule(1, 'PathPrefix', '/admin'),
  rule(2, 'Exact', '/public'),
  rule(3, 'PathPrefix', '/public/a'),
  rule(4, 'PathPrefix', '/rewritten', { filters: [{ type: 'rewrite', path: { type: 'prefix', value: '/admin' } }] }),
  rule(5, 'PathPrefix', '/moved', {
    filters: [{ type: 'redirect', statusCode: 302, path: { type: 'prefix', value: '/' } }],
    backends: [],
  }),
];

interface Sent {
  readonly target: string;
  readonly host: string;
}

/** The rule that a path must be decided by. */
function ruleFor(path: string): number {
  const under = (prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
  if (path === '/public') return 2;
  if (under('/admin')) return 1;
  return under('/public/a') ? 3 : 0;
}

/** Why what reached the backend is not what decided the rule; `undefined` where it is. */
function difference({ target, host }: Sent, rule: number | undefined, seen: Echo): string | undefined {
  const path = seen.target.replace(/\?.*$/s, '');
  // The parser of URLs that browsers and Node share finds nothing left to do: no dot segments, backslashes or bare bytes.
  if (new URL(`http://a${path}`).pathname !== path) return `forwarded as ${path}`;
  // The rewrite of rule 4 leads below /admin.
  if (ruleFor(path) !== (rule === 4 ? 1 : rule)) return `${path} was decided by rule ${rule}`;
  const authority = /^https?:\/\/(?<authority>[^/?]*)/i.exec(target)?.groups?.['authority'] ?? host;
  const forwarded = fieldValues(seen, 'host')[0];
  return authority === '' || forwarded === authority ? undefined : `host ${authority} was forwarded as ${forwarded}`;
}

/**
 * Why a redirect leads where it must not; `undefined` where it is right. An empty Host leaves no host for an absolute URL
 * (RFC 9110 section 4.2.1 forbids an empty one). Location is then a path that stays on the host of the request (section 10.2.2).
 */
function misdirection(rule: number | undefined, { target, host }: Sent, answer: string): string | undefined {
  const location = /^location: (?<location>[^\r\n]*)\r$/im.exec(answer)?.groups?.['location'] ?? '';
  const hasHost = host !== '' || /^https?:/i.test(target);
  // The segment `.` in front keeps a path that begins with two slashes from naming a host.
  const path = hasHost ? location.replace(/^http:\/\/[^/]+(?=\/)/, '') : location.replace(/^\/\.(?=\/\/)/, '');
  const isOnHost = hasHost
    ? path !== location
    : new URL(location, 'http://client.example/moved/').host === 'client.example';
  const isRight = rule === 5 && isOnHost && path.startsWith('/') && !/\/\.\.?(?:\/|$)/.test(path.replace(/\?.*$/s, ''));
  return isRight ? undefined : `moved to ${location}`;
}

/** Why an answer is wrong; `undefined` where it is right. */
function fault(sent: Sent, answer: string, { rule, reason }: Partial<AccessLogEntry>): string | undefined {
  const status = Number(answer.slice(9, 12));
  const said = explained(sent);
  if ('refused' in said) return status === 400 ? undefined : `${status}, explained as ${said.refused}`;
  // The parser refuses what breaks the grammar before anybody reads the head.
  if (status === 400) return reason === 'bad-request' ? undefined : `${reason}, explained as rule ${said.rule}`;
  if (said.rule !== rule) return `rule ${rule}, explained as ${said.rule}`;
  if (status === 302) return misdirection(rule, sent, answer);
  return status === 200
    ? difference(sent, rule, JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)) as Echo)
    : `status ${status}`;
}

function randomTargets(count: number): Sent[] {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  return Array.from({ length: count }, () => {
    const first = pick(['/', '/admin/', '/public/', '/rewritten/', '/moved/', '/public/a/']);
    const path =
      first + Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(segments)).join(pick(['/', '//', '']));
    return { target: path + (random() < 0.3 ? pick(queries) : ''), host: random() < 0.3 ? pick(hosts) : 'shop' };
  });
}

const everything: readonly Sent[] = [
  ...segments.flatMap((segment) =>
    [
      `/${segment}`,
      `/${segment}/admin`,
      `/public/${segment}`,
      `/public/${segment}/admin`,
      `/rewritten/${segment}`,
      `/moved/${segment}`,
    ].map((target) => ({ target, host: 'shop' })),
  ),
  ...queries.map((query) => ({ target: `/admin${query}`, host: 'shop' })),
  ...targets.map((target) => ({ target, host: 'shop' })),
  ...hosts.flatMap((host) => [
    { target: '/admin', host },
    { target: 'http://other/admin', host },
    { target: `http://${host}/admin`, host: 'shop' },
  ]),
];

/** The reason of a refusal, or which rule is reported and how the request ends there, as `explain` says. */
function explained({ target, host }: Sent): { readonly refused: string } | { readonly rule: number | undefined } {
  // The parser takes several blanks between the parts of a request line for one.
  const head = readHttp1Head(
    { httpVersion: '1.1', method: 'GET', url: target.replace(/ +$/, ''), rawHeaders: ['host', host] },
    defaultLimits,
  );
  if (typeof head === 'string') return { refused: head };
  const { path, search, host: name, authority, remainingHops, hops } = head;
  const arriving = {
    protocol: 'HTTP' as const,
    port: web.port,
    serverName: undefined,
    method: 'GET',
    path,
    search,
    host: name,
    authority,
    remainingHops,
    hops,
    header: head.header.bind(head),
    query: head.query.bind(head),
  };
  const [outcome] = outcomesOf([web, endpointsConfig('app'), webRoute(...rules)], arriving);
  return { rule: outcome?.candidates.find(({ unmet }) => unmet.length === 0)?.candidate.rule.index };
}

describe('what is matched is what is forwarded', () => {
  test('over HTTP/1.1, and explain reads the same', async () => {
    const backend = await startEcho();
    const { port, log } = await startProxy([endpointsConfig('app', backend.port), webRoute(...rules)]);
    const problems: string[] = [];
    for (const sent of [...everything, ...randomTargets(scaled(300, 20_000))]) {
      log.length = 0;
      const answer = await sendRaw(
        port,
        `GET ${sent.target} HTTP/1.1\r\nHost: ${sent.host}\r\nConnection: close\r\n\r\n`,
      );
      await eventually(() => expect(log).toHaveLength(1));
      const problem = fault(sent, answer, log[0] ?? {});
      if (problem !== undefined) problems.push(`${JSON.stringify(sent)}: ${problem}`);
    }
    expect(problems).toEqual([]);
  });

  // node:http2 sends none of these; the frames are written by hand.
  test.each<[string, readonly (readonly [string, string])[]]>([
    [
      'an authority in :path',
      [
        [':method', 'GET'],
        [':scheme', 'ftp'],
        [':path', 'http://other/admin'],
        [':authority', 'shop'],
      ],
    ],
    [
      'a path without a slash',
      [
        [':method', 'GET'],
        [':scheme', 'ftp'],
        [':path', 'admin'],
        [':authority', 'shop'],
      ],
    ],
    [
      'an asterisk for GET',
      [
        [':method', 'GET'],
        [':scheme', 'ftp'],
        [':path', '*'],
        [':authority', 'shop'],
      ],
    ],
    [
      'a line break in :path',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/a HTTP/1.1\r\nHost: b\r\n\r\n'],
        [':authority', 'shop'],
      ],
    ],
    [
      'a NUL in :path',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/\0'],
        [':authority', 'shop'],
      ],
    ],
    [
      'a line break in :method',
      [
        [':method', 'GET /admin HTTP/1.1\r\nX: y'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
      ],
    ],
    [
      'a line break in :authority',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop\r\nX: y'],
      ],
    ],
    [
      'a user in :authority',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'u@shop'],
      ],
    ],
    [
      'a Host that differs',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['host', 'other'],
      ],
    ],
    [
      'an upper-case name',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['Transfer-Encoding', 'chunked'],
      ],
    ],
    [
      'Transfer-Encoding',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['transfer-encoding', 'chunked'],
      ],
    ],
    [
      'Connection',
      [
        [':method', 'GET'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['connection', 'x'],
      ],
    ],
    [
      'a length that is no number',
      [
        [':method', 'POST'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['content-length', '+5'],
      ],
    ],
    [
      'a length without a body',
      [
        [':method', 'POST'],
        [':scheme', 'http'],
        [':path', '/'],
        [':authority', 'shop'],
        ['content-length', '5'],
      ],
    ],
  ])('over HTTP/2, %s reaches no backend', async (_name, fields) => {
    const backend = await startEcho();
    const { port, log } = await startProxy([endpointsConfig('app', backend.port), webRoute(...rules)]);
    const raw = openFrames(port);
    raw.socket.write(frame('headers', 5, 1, literal(...fields)));
    // A request behind it shows that the proxy has read the first one; where that ended the connection, it closes.
    raw.socket.write(
      frame(
        'headers',
        5,
        3,
        literal([':method', 'OPTIONS'], [':scheme', 'http'], [':path', '*'], [':authority', 'shop']),
      ),
    );
    await eventually(() => expect(raw.socket.closed || raw.frames.some(({ stream }) => stream === 3)).toBe(true));
    expect(backend.connections()).toBe(0);
    expect(log.filter(({ status }) => status === 200)).toEqual([]);
  });

  // RFC 9113 section 8.2.1: the request is malformed. The connection and its other streams go on.
  test.each<[string, readonly [string, string]]>([
    ['a line break in a value', ['x', 'y\r\nTransfer-Encoding: chunked']],
    ['a NUL in a value', ['x', 'y\0']],
    ['a colon in a name', ['x:y', 'z']],
    ['a blank in a name', ['x y', 'z']],
    ['a line break in a name', ['x\r\ny', 'z']],
  ])('over HTTP/2, a field with %s reaches no backend', async (_name, field) => {
    const bytes: string[] = [];
    const backend = await startRawBackend((socket) => {
      socket.on('data', (chunk: Buffer) => {
        bytes.push(chunk.toString('latin1'));
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
    });
    const { port, log } = await startProxy([endpointsConfig('app', backend.port), webRoute(...rules)]);
    const raw = openFrames(port);
    const valid: readonly [string, string][] = [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'shop'],
    ];
    raw.socket.write(frame('headers', 5, 1, literal(...valid, field)));
    await eventually(() => expect(raw.frames.filter(({ stream }) => stream === 1)).toHaveLength(1));
    expect(raw.frames.find(({ stream }) => stream === 1)?.type).toBe(frameTypes.reset);
    expect(bytes).toEqual([]);
    raw.socket.write(frame('headers', 5, 3, literal(...valid)));
    await eventually(() => expect(log.filter(({ status }) => status === 200)).toHaveLength(1));
    const lines = bytes.join('').split('\r\n');
    expect(lines.filter((line) => line.startsWith('x') && !line.startsWith('x-forwarded-'))).toEqual([]);
    expect(lines.filter((line) => line.endsWith(' HTTP/1.1'))).toEqual(['GET / HTTP/1.1']);
    expect(bytes.join('')).not.toMatch(/transfer-encoding|\0/i);
  });
});
