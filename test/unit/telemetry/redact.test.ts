import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { redacted, redactLine } from '../../../src/telemetry/redact.ts';

const privateKey = '-----BEGIN EC PRIVATE KEY-----\nMHcCAQEE\n-----END EC PRIVATE KEY-----';

function redact(value: unknown): unknown {
  return JSON.parse(redactLine(`${JSON.stringify(value)}\n`));
}

describe('redactLine', () => {
  test.each([
    'password',
    'dbPasswd',
    'Authorization',
    'set-cookie',
    'accessToken',
    'privateKey',
    'private_key',
    'tls.key',
    'apiKey',
    'client_secret',
    'credentials',
  ])('replaces what stands under %s', (name) => {
    expect(redact({ [name]: 'value' })).toEqual({ [name]: redacted });
    expect(redact({ a: [{ [name]: { deeper: ['value'] } }] })).toEqual({ a: [{ [name]: redacted }] });
  });

  test.each([
    ['secret', 'shop/certificate'],
    ['key', 'listener/shop/web/http'],
    ['tls.crt', 'public'],
    ['kind', 'Secret'],
  ])('leaves names that are no secrets: %s', (name, value) => {
    expect(redact({ [name]: value })).toEqual({ [name]: value });
  });

  test('replaces the data of a Secret, wherever it lies', () => {
    const secret = { kind: 'Secret', metadata: { name: 'a' }, data: { any: 'thing' }, stringData: { other: 'thing' } };
    expect(redact({ objects: [secret] })).toEqual({ objects: [{ ...secret, data: redacted, stringData: redacted }] });
    expect(redact({ kind: 'ConfigMap', data: { any: 'thing' } })).toEqual({
      kind: 'ConfigMap',
      data: { any: 'thing' },
    });
  });

  test('replaces private keys inside a text and keeps what stands around', () => {
    expect(redact({ text: `before ${privateKey} after` })).toEqual({ text: `before ${redacted} after` });
    expect(redact({ text: '-----BEGIN PRIVATE KEY-----\nMHcCAQEE cut off' })).toEqual({ text: redacted });
  });

  test('replaces bearer tokens inside a text', () => {
    expect(redact({ text: 'sent "bearer abc.def" to it' })).toEqual({ text: `sent "Bearer ${redacted}" to it` });
  });

  test('keeps one line a record', () => {
    expect(redactLine('{"token":"a"}\n')).toBe(`{"token":"${redacted}"}\n`);
  });

  test('returns harmless lines as they came', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        fc.pre(!/authorization|cookie|pass|token|key|secret|credential|bearer/i.test(json));
        expect(redactLine(json)).toBe(json);
      }),
    );
  });
});
