import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('backend-port-name', () => {
  const backendWith = (port: object): unknown => objectOf('XBackend', 'v1alpha1', { port: { port: 443, ...port } });
  const bundle = { minor: '1.6', channel: 'experimental' } as const;

  test.each([[{}], [{ name: '' }]])('%j is fine', (port) => {
    expect(refusals('backend-port-name', backendWith(port), bundle)).toEqual([]);
  });

  // Found by make differential: the API server refuses "https", too.
  test.each(['https', 'HTTPS', 'a.b'])('%s is not, label or no label', (name) => {
    expect(refusals('backend-port-name', backendWith({ name }), bundle)).toEqual([['spec.port.name', 'The CRD of this bundle refuses every name of a port, good ones too. Leave name out; v1.7 has no such field.']]);
  });

  test('only one release has the field', () => {
    expect(refusingBundles('backend-port-name', backendWith({ name: 'https' }))).toEqual(['experimental 1.6–1.6']);
  });
});
