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
    expect(refusals('backend-port-name', backendWith({ name }), bundle)).toEqual([
      [
        'spec.port.name',
        'The CRD of this bundle rejects every port name, valid names included. Remove name. The field does not exist in v1.7.',
      ],
    ]);
  });

  test('only one release has the field', () => {
    expect(refusingBundles('backend-port-name', backendWith({ name: 'https' }))).toEqual(['experimental 1.6–1.6']);
  });
});
