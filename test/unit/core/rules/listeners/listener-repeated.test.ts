import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('listener-repeated', () => {
  const web = { name: 'web', port: 80, protocol: 'HTTP' };
  const gatewayWith = (...listeners: readonly object[]): unknown => objectOf('Gateway', 'v1', { listeners });

  test.each([[{ port: 81 }], [{ protocol: 'TCP' }], [{ hostname: 'a.example' }]])('%j tells them apart', (more) => {
    expect(refusals('listener-repeated', gatewayWith(web, { ...web, ...more }))).toEqual([]);
  });

  test('names both', () => {
    expect(refusals('listener-repeated', gatewayWith(web, { ...web, name: 'also' }))).toEqual([
      [
        'spec.listeners[1]',
        'Duplicate listener: listeners[0] has the same port 80, protocol HTTP and no hostname. Remove one of them, or use another port or hostname.',
      ],
    ]);
    expect(
      refusals(
        'listener-repeated',
        gatewayWith({ ...web, hostname: 'a.example' }, web, { ...web, hostname: 'a.example' }),
      ),
    ).toEqual([
      [
        'spec.listeners[2]',
        'Duplicate listener: listeners[0] has the same port 80, protocol HTTP and hostname a.example. Remove one of them, or use another port or hostname.',
      ],
    ]);
  });

  test('where an XListenerSet leaves the port out, the default counts', () => {
    const set = objectOf('XListenerSet', 'v1alpha1', {
      listeners: [
        { name: 'a', protocol: 'HTTP' },
        { name: 'b', protocol: 'HTTP' },
      ],
    });
    expect(refusingBundles('listener-repeated', set)).toEqual(['experimental 1.4–1.4']);
  });

  test('has always been demanded', () => {
    expect(refusingBundles('listener-repeated', gatewayWith(web, web))).toEqual([
      'standard 1.0–1.7',
      'experimental 1.0–1.7',
    ]);
    expect(refusingBundles('listener-repeated', objectOf('ListenerSet', 'v1', { listeners: [web, web] }))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.5–1.7',
    ]);
  });
});
