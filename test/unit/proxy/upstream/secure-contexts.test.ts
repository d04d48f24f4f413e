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

// Each endpoint has its own connector, and the first connection of each of them read 512 KiB.
test('a list of authorities is read once', () => {
  let reads = 0;
  const authorities = Object.assign([authority.certificate], {
    toJSON: () => {
      reads += 1;
      return [authority.certificate];
    },
  });
  const shared = secureContextOf({ authorities });
  expect(secureContextOf({ authorities })).toBe(shared);
  expect(reads).toBe(1);
});
