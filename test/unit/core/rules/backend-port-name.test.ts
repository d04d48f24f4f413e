import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../support/rules.ts';

describe('backend-port-name', () => {
  const backendWith = (name: string): unknown => objectOf('XBackend', 'v1alpha1', { port: { port: 443, name } });
  const bundle = { minor: '1.6', channel: 'experimental' } as const;

  test.each(['', 'https', '8', 'a-b', 'a'.repeat(63)])('%j is fine', (name) => {
    expect(refusals('backend-port-name', backendWith(name), bundle)).toEqual([]);
  });

  test.each(['HTTPS', 'a.b', '-a', 'a'.repeat(64)])('%s is none', (name) => {
    expect(refusals('backend-port-name', backendWith(name), bundle)).toHaveLength(1);
  });

  test('says how it looks, in the one release that has the field', () => {
    expect(refusals('backend-port-name', backendWith('HTTPS'), bundle)).toEqual([['spec.port.name', '"HTTPS" is no port name. Write lower-case letters, digits and -, such as https, or leave it out.']]);
    expect(refusingBundles('backend-port-name', backendWith('HTTPS'))).toEqual(['experimental 1.6–1.6']);
  });
});
