import { beforeAll, expect, test } from '@jest/globals';
import { createAuthority, type Authority } from '../../../../src/certificates/index.ts';
import { secureContextOf } from '../../../../src/proxy/upstream/secure-contexts.ts';
import { issueLeaf } from '../../../support/certificates.ts';

let authority: Authority;
beforeAll(async () => {
  authority = await createAuthority();
});

test('backends with equal authorities and client certificates share a context, others do not', async () => {
  const authorities = (): string[] => [authority.certificate];
  const [first, second] = [await issueLeaf(authority, {}), await issueLeaf(authority, {})];
  const shared = secureContextOf({ authorities: authorities() });
  expect(secureContextOf({ authorities: authorities() })).toBe(shared);
  const identified = secureContextOf({ authorities: authorities(), client: first });
  expect(secureContextOf({ authorities: authorities(), client: { ...first } })).toBe(identified);
  const all = [
    shared,
    identified,
    secureContextOf({ authorities: authorities(), client: second }),
    secureContextOf({ authorities: 'system' }),
  ];
  expect(new Set(all).size).toBe(4);
});
