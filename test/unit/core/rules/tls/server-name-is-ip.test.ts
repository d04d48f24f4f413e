import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('server-name-is-ip', () => {
  const routeWith = (version: string, ...hostnames: readonly string[]): unknown =>
    objectOf('TLSRoute', version, { hostnames, rules: [] });

  test('names the address', () => {
    expect(refusals('server-name-is-ip', routeWith('v1', 'shop.example.com', '192.0.2.1'))).toEqual([
      [
        'spec.hostnames[1]',
        'Invalid hostname "192.0.2.1": it is an IP address, which clients do not send as server name. Use a DNS name, for example shop.example.com.',
      ],
    ]);
  });

  test.each(['1.2.3', '1.2.3.4.5', '256.0.0.1', '01.2.3.4', '*.1.2.3.4', 'a.1.2.3.4'])(
    '%s is none to the API server',
    (hostname) => {
      expect(refusals('server-name-is-ip', routeWith('v1', hostname))).toEqual([]);
    },
  );

  test('is demanded since v1.5, and never of v1alpha2', () => {
    expect(refusingBundles('server-name-is-ip', routeWith('v1', '1.2.3.4'))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.5–1.7',
    ]);
    expect(refusingBundles('server-name-is-ip', routeWith('v1alpha3', '1.2.3.4'))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.5–1.7',
    ]);
    expect(refusingBundles('server-name-is-ip', routeWith('v1alpha2', '1.2.3.4'))).toEqual([]);
  });
});
