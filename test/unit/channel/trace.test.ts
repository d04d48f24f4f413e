import { describe, expect, test } from '@jest/globals';
import {
  isSignedTrace,
  readTrace,
  readTraceAnswer,
  signTrace,
  traceAnswer,
  traceBytes,
  traceKeyOf,
  traceLength,
  traceProtocol,
  traceStart,
  type TracedConnection,
  type TracedRequest,
} from '../../../src/channel/trace.ts';

const key = traceKeyOf('secret', 'shop/web');
const now = Date.UTC(2026, 0, 1);
const connection: TracedConnection = { protocol: 'TLS', port: 443, serverName: 'db.example.com' };

function isSigned(value: string, traced: TracedConnection | TracedRequest, by = key): boolean {
  const signed = readTrace(value);
  return signed !== undefined && isSignedTrace(by, traced, signed);
}

describe('the signature of a connection', () => {
  test('is valid for it, with this key', () => {
    const value = signTrace(key, connection, now);
    expect(isSigned(value, connection)).toBe(true);
    expect(isSigned(value, connection, traceKeyOf('secret', 'shop/other'))).toBe(false);
  });

  test.each<Partial<TracedConnection>>([{ protocol: 'TCP' }, { port: 8443 }, { serverName: '' }])(
    'is invalid for another one: %j',
    (parts) => {
      expect(isSigned(signTrace(key, connection, now), { ...connection, ...parts })).toBe(false);
    },
  );

  test('is invalid for a request with the same texts', () => {
    const request = { method: 'TLS', host: '443', path: 'db.example.com', search: '' };
    expect(isSigned(signTrace(key, connection, now), request)).toBe(false);
    expect(isSigned(signTrace(key, request, now), connection)).toBe(false);
  });

  test('has a fixed length, and fits in the name of a protocol', () => {
    const value = signTrace(key, connection, now);
    expect(traceBytes(value)).toHaveLength(traceLength);
    expect(traceProtocol.length + value.length).toBeLessThan(256);
  });
});

describe('an answer', () => {
  const report = { listener: 'listener/shop/web/tcp', backend: 'shop/größe/80' };
  const answer = traceAnswer(key, 'nonce', report);

  test('is read after bytes of a server that sends first', () => {
    expect(readTraceAnswer(key, 'nonce', answer)).toEqual(report);
    expect(readTraceAnswer(key, 'nonce', Buffer.concat([Buffer.from('220 hello\r\n'), answer]))).toEqual(report);
  });

  test('is invalid for another trace, with another key, or changed', () => {
    expect(readTraceAnswer(key, 'other', answer)).toBeUndefined();
    expect(readTraceAnswer(traceKeyOf('guess', 'shop/web'), 'nonce', answer)).toBeUndefined();
    const changed = Buffer.from(answer.toString('latin1').replace('tcp', 'udp'), 'latin1');
    expect(readTraceAnswer(key, 'nonce', changed)).toBeUndefined();
  });

  test('is not found in other bytes', () => {
    for (const bytes of [
      Buffer.alloc(0),
      traceStart,
      Buffer.from('{"rule":9}\n'),
      Buffer.concat([traceStart, traceStart]),
    ])
      expect(readTraceAnswer(key, 'nonce', bytes)).toBeUndefined();
    for (let length = 0; length < answer.length; length += 1)
      expect(readTraceAnswer(key, 'nonce', answer.subarray(0, length))).toBeUndefined();
  });

  test('contains no key', () => {
    expect(answer.includes(key)).toBe(false);
    expect(answer.includes(Buffer.from(key, 'hex'))).toBe(false);
  });
});
