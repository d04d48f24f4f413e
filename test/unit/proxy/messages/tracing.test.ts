import { describe, expect, test } from '@jest/globals';
import { readTrace, readTraceAnswer, signTrace, traceKeyOf } from '../../../../src/channel/trace.ts';
import { Tracing } from '../../../../src/proxy/messages/tracing.ts';
import { defaultLimits } from '../../../../src/proxy/limits/limits.ts';
import { readHttp1Head, type RequestHead } from '../../../../src/proxy/messages/request-head.ts';

const key = traceKeyOf('secret', 'shop/web');
const now = Date.UTC(2026, 0, 1);
const request = { method: 'GET', host: 'shop.example.com', path: '/cart', search: '?a=1' };

function head(value: string | readonly string[], parts: Partial<{ method: string; url: string; host: string }> = {}) {
  const { method = 'GET', url = '/cart?a=1', host = 'Shop.example.com:8080' } = parts;
  const fields = [value].flat().flatMap((one) => ['Sallyport-Trace', one]);
  const read = readHttp1Head({ httpVersion: '1.1', method, url, rawHeaders: ['host', host, ...fields] }, defaultLimits);
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function accepts(read: RequestHead, at = now): boolean {
  const tracing = new Tracing(() => at);
  tracing.setKey(key);
  return tracing.accepts(read);
}

describe('a trace is accepted', () => {
  test('with the key of the Gateway, for the signed request', () => {
    expect(accepts(head(signTrace(key, request, now)))).toBe(true);
  });

  test.each([-60_000, 60_000])('within a minute of its time: %d', (difference) => {
    expect(accepts(head(signTrace(key, request, now)), now + difference)).toBe(true);
  });
});

describe('a trace is ignored', () => {
  test('without a key, also after it was taken away', () => {
    const tracing = new Tracing(() => now);
    expect(tracing.accepts(head(signTrace(key, request, now)))).toBe(false);
    tracing.setKey(key);
    tracing.setKey(undefined);
    expect(tracing.accepts(head(signTrace(key, request, now)))).toBe(false);
  });

  test('with the key of another Gateway, or of another secret', () => {
    expect(accepts(head(signTrace(traceKeyOf('secret', 'shop/other'), request, now)))).toBe(false);
    expect(accepts(head(signTrace(traceKeyOf('other', 'shop/web'), request, now)))).toBe(false);
  });

  test.each([{ method: 'POST' }, { url: '/cart' }, { url: '/other?a=1' }, { host: 'other.example.com' }])(
    'for another request: %j',
    (parts) => {
      expect(accepts(head(signTrace(key, request, now), parts))).toBe(false);
    },
  );

  test.each([-61_000, 61_000])('out of its time: %d', (difference) => {
    expect(accepts(head(signTrace(key, request, now)), now + difference)).toBe(false);
  });

  test('the second time, for as long as its signature is valid', () => {
    let at = now;
    const tracing = new Tracing(() => at);
    tracing.setKey(key);
    const once = head(signTrace(key, request, now + 50_000));
    expect(tracing.accepts(once)).toBe(true);
    for (at of [now, now + 60_000, now + 109_000, now + 110_000]) expect(tracing.accepts(once)).toBe(false);
    expect(tracing.accepts(head(signTrace(key, request, at)))).toBe(true);
  });

  test('while a thousand others are remembered, and invalid ones are not', () => {
    let at = now;
    const tracing = new Tracing(() => at);
    tracing.setKey(key);
    const forged = head(signTrace(traceKeyOf('guess', 'shop/web'), request, now));
    for (let count = 0; count < 2_000; count += 1) expect(tracing.accepts(forged)).toBe(false);
    for (let count = 0; count < 1_000; count += 1) tracing.accepts(head(signTrace(key, request, now)));
    expect(tracing.accepts(head(signTrace(key, request, now)))).toBe(false);
    at = now + 60_001;
    expect(tracing.accepts(head(signTrace(key, request, at)))).toBe(true);
  });

  test('twice in one request', () => {
    expect(accepts(head([signTrace(key, request, now), signTrace(key, request, now)]))).toBe(false);
  });

  test.each(['', 'v1', 'v2.1767225600.AAAAAAAAAAAAAAAAAAAAAA.x', `v1.${'9'.repeat(5_000)}`, '\u0000'])(
    'in any other form: %j',
    (value) => {
      expect(readTrace(value)).toBeUndefined();
      expect(accepts(head(value))).toBe(false);
    },
  );
});

describe('the trace of a connection', () => {
  const connection = { protocol: 'TCP', port: 5432, serverName: '' } as const;

  function keyed(): Tracing {
    const tracing = new Tracing(() => now);
    tracing.setKey(key);
    return tracing;
  }

  test('gets a signed answer, once', () => {
    const tracing = keyed();
    const value = signTrace(key, connection, now);
    const answer = tracing.recognize(connection, value);
    if (typeof answer !== 'function') throw new Error('no answer');
    expect(readTraceAnswer(key, readTrace(value)?.nonce ?? '', answer({ rule: 0 }))).toEqual({ rule: 0 });
    expect(tracing.recognize(connection, value)).toBe('spent');
  });

  test('is spent while too many others are remembered', () => {
    const tracing = keyed();
    for (let count = 0; count < 1_000; count += 1) tracing.recognize(connection, signTrace(key, connection, now));
    expect(tracing.recognize(connection, signTrace(key, connection, now))).toBe('spent');
  });

  test('shares its memory with requests, but not its signature', () => {
    const tracing = keyed();
    const value = signTrace(key, request, now);
    expect(tracing.recognize(connection, value)).toBeUndefined();
    expect(tracing.accepts(head(value))).toBe(true);
    expect(tracing.accepts(head(signTrace(key, connection, now)))).toBe(false);
  });

  test.each([
    ['another key', signTrace(traceKeyOf('secret', 'shop/other'), connection, now)],
    ['another port', signTrace(key, { ...connection, port: 80 }, now)],
    ['an earlier time', signTrace(key, connection, now - 61_000)],
    ['another form', 'v1'],
  ])('is none with %s', (_name, value) => {
    expect(keyed().recognize(connection, value)).toBeUndefined();
  });

  test('is none without a key', () => {
    const tracing = new Tracing(() => now);
    expect(tracing.isOn).toBe(false);
    expect(tracing.recognize(connection, signTrace(key, connection, now))).toBeUndefined();
  });
});
