import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { readAuthorities, writeAuthorities } from '../../../src/certificates/authority-secret.ts';
import { joinPem, splitPem } from '../../../src/certificates/pem.ts';
import type { AuthorityState } from '../../../src/certificates/rotation.ts';

const signing = fc.record({
  certificate: fc.string({ minLength: 1 }),
  privateKey: fc.string({ minLength: 1 }),
  issuedAt: fc.nat(),
  notAfter: fc.nat(),
});
const state: fc.Arbitrary<AuthorityState> = fc.record(
  {
    current: signing,
    next: signing,
    retired: fc.array(fc.record({ certificate: fc.string({ minLength: 1 }), until: fc.nat() })),
  },
  { requiredKeys: ['retired'], noNullPrototype: true },
);

describe('the Secret of the authorities', () => {
  test('reads what it wrote', () => {
    fc.assert(
      fc.property(state, (written) =>
        expect(readAuthorities(writeAuthorities(written))).toEqual({ type: 'state', state: written }),
      ),
    );
  });

  test('holds what to trust for other tools', () => {
    const current = { certificate: 'a\n', privateKey: 'secret', issuedAt: 0, notAfter: 1 };
    expect(writeAuthorities({ current, retired: [{ certificate: 'b\n', until: 1 }] })['ca.crt']).toBe('a\nb\n');
  });

  test('never throws on what somebody else wrote, and quotes none of it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(readAuthorities({ 'authorities.json': text }).type).toBe('unreadable');
      }),
    );
    const authority = { certificate: 'c', privateKey: 'SECRET', issuedAt: 0, notAfter: 1 };
    for (const broken of [
      { version: 2, retired: [] },
      { version: 1, retired: {} },
      { version: 1, retired: [{ certificate: 'c' }] },
      { version: 1, retired: [], current: { ...authority, notAfter: null } },
      { version: 1, retired: [], next: { ...authority, privateKey: '' } },
      { version: 1, retired: [], current: null },
    ]) {
      const read = readAuthorities({ 'authorities.json': JSON.stringify(broken) });
      expect(read).toEqual({ type: 'unreadable', problem: expect.any(String) });
      expect(JSON.stringify(read)).not.toContain('SECRET');
    }
    expect(readAuthorities({})).toEqual({
      type: 'unreadable',
      problem: 'authorities.json is missing or not a JSON object',
    });
  });
});

describe('PEM', () => {
  const begin = '-----BEGIN CERTIFICATE-----';
  const end = '-----END CERTIFICATE-----';

  test('gives equal certificates equal text, however they are wrapped', () => {
    const body = 'A'.repeat(100);
    const wrapped = `${begin}\r\n${body.slice(0, 50)}\r\n${body.slice(50)}\r\n${end}`;
    const [one, other] = splitPem(`# first\n${wrapped}\n\n${begin}\n${body}\n${end}\n`);
    expect(one).toBe(other);
    expect(one).toBe(`${begin}\n${body.slice(0, 64)}\n${body.slice(64)}\n${end}\n`);
    expect(splitPem(joinPem([one ?? '', 'x']))).toEqual([one]);
  });

  test('joins texts that lack their last line break', () => {
    const pem = `${begin}\nAAAA\n${end}`;
    expect(joinPem([pem, pem])).toBe(`${pem}\n${pem}\n`);
  });

  test('leaves out what is no certificate', () => {
    expect(splitPem('')).toEqual([]);
    expect(splitPem(`${begin}\nAAAA`)).toEqual([]);
    expect(splitPem('-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----')).toEqual([]);
  });
});
