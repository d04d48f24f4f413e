import { describe, expect, test } from '@jest/globals';
import type { CorsFilter } from '../../../../../src/core/routing/config.ts';
import { compileCors, type CorsRequest } from '../../../../../src/core/routing/decision/cors.ts';

const filter: CorsFilter = {
  type: 'cors',
  allowOrigins: ['https://www.example.com', 'https://*.example.org'],
  allowCredentials: false,
  allowMethods: ['GET', 'PUT'],
  allowHeaders: ['x-one', 'x-two'],
  exposeHeaders: ['x-three'],
  maxAge: 60,
};

function request(method: string, fields: Record<string, string>): CorsRequest {
  return { method, header: (name) => fields[name] };
}

function preflight(cors: Partial<CorsFilter>, fields: Record<string, string>): Record<string, string> | undefined {
  const answer = compileCors({ ...filter, ...cors }).preflight(request('OPTIONS', fields));
  return answer && pairs(answer);
}

function pairs(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    fields.flatMap((name, position) => (position % 2 === 0 ? [[name, fields[position + 1] ?? '']] : [])),
  );
}

const asked = {
  origin: 'https://www.example.com',
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'x-one',
};

describe('preflight', () => {
  test('names all that is allowed', () => {
    expect(preflight({}, asked)).toEqual({
      'access-control-allow-origin': 'https://www.example.com',
      vary: 'Origin',
      'access-control-allow-methods': 'GET, PUT',
      'access-control-allow-headers': 'x-one, x-two',
      'access-control-expose-headers': 'x-three',
      'access-control-max-age': '60',
    });
  });

  test.each([
    ['another method', 'GET', asked],
    ['no origin', 'OPTIONS', { 'access-control-request-method': 'PUT' }],
    ['no method asked for', 'OPTIONS', { origin: 'https://www.example.com' }],
  ])('is not a request with %s', (_what, method, fields) => {
    expect(compileCors(filter).preflight(request(method, fields))).toBeUndefined();
  });

  test('tells a stranger nothing', () => {
    expect(preflight({}, { ...asked, origin: 'https://evil.example' })).toEqual({ vary: 'Origin' });
  });

  test('with credentials echoes what was asked instead of a wildcard', () => {
    const all = {
      allowOrigins: ['*'],
      allowMethods: ['*'],
      allowHeaders: ['*'],
      exposeHeaders: ['*'],
      allowCredentials: true,
    };
    expect(preflight(all, asked)).toEqual({
      'access-control-allow-origin': 'https://www.example.com',
      vary: 'Origin',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'PUT',
      'access-control-allow-headers': 'x-one',
      'access-control-max-age': '60',
    });
    const { origin, 'access-control-request-method': method } = asked;
    expect(preflight(all, { origin, 'access-control-request-method': method })).not.toHaveProperty(
      'access-control-allow-headers',
    );
  });

  test('without credentials says wildcards as they are, the same to everybody', () => {
    const all = { allowOrigins: ['*'], allowMethods: ['*'], allowHeaders: ['*'], exposeHeaders: ['*'] };
    expect(preflight(all, asked)).toEqual({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': '*',
      'access-control-allow-headers': '*',
      'access-control-expose-headers': '*',
      'access-control-max-age': '60',
    });
  });
});

describe('origins', () => {
  test.each([
    ['https://www.example.com', 'https://www.example.com:443', true],
    ['https://www.example.com:443', 'https://www.example.com', true],
    ['https://www.example.com', 'https://www.example.com:8443', false],
    ['https://www.example.com', 'http://www.example.com', false],
    ['http://www.example.com', 'http://www.example.com:80', true],
    ['https://www.example.com', 'HTTPS://WWW.Example.com', true],
    ['https://*.example.org', 'https://a.example.org', true],
    ['https://*.example.org', 'https://a.b.example.org', true],
    ['https://*.example.org', 'https://example.org', false],
    ['https://*.example.org', 'https://.example.org', false],
    ['https://*.example.org', 'https://a.example.org.evil.example', false],
    ['https://*', 'https://anything.example', true],
    ['https://*', 'http://anything.example', false],
    ['https://*:8443', 'https://anything.example:8443', true],
    ['https://*:8443', 'https://anything.example', false],
    ['*', 'null', true],
    ['https://*', 'null', false],
  ])('%s lets %s in: %s', (allowed, origin, isAllowed) => {
    const answer = preflight({ allowOrigins: [allowed], allowCredentials: true }, { ...asked, origin });
    expect(answer?.['access-control-allow-origin']).toBe(isAllowed ? origin : undefined);
  });
});

describe('other answers', () => {
  const respond = (cors: Partial<CorsFilter>, fields: Record<string, string>) =>
    pairs(
      compileCors({ ...filter, ...cors }).respond(
        ['x-three', '3', 'Access-Control-Allow-Origin', 'https://other.example'],
        request('GET', fields),
      ),
    );

  test('are shared with an allowed origin, in place of what the backend says', () => {
    expect(respond({ allowCredentials: true }, { origin: 'https://a.example.org' })).toEqual({
      'x-three': '3',
      'access-control-allow-origin': 'https://a.example.org',
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'x-three',
      vary: 'Origin',
    });
  });

  test.each([{ origin: 'https://evil.example' }, {}])(
    'are not shared with %j, and caches must ask again for others',
    (fields) => {
      expect(respond({}, fields)).toEqual({ 'x-three': '3', vary: 'Origin' });
    },
  );

  test('say nothing to caches where all origins are treated alike', () => {
    expect(respond({ allowOrigins: ['*'] }, { origin: 'https://a.example' })).toEqual({
      'x-three': '3',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'x-three',
    });
  });
});
