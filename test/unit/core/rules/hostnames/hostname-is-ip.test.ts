import { describe, expect, test } from '@jest/globals';
import { gatewayWith, httpRoute, remarks } from '../../../../support/rules.ts';

const message = 'Invalid hostname "10.0.0.1": it is an IP address. Use a DNS name, for example shop.example.com.';

describe('hostname-is-ip', () => {
  test.each(['a.example', '*.example.com', '1.2.3', 'UPPER', `${'a'.repeat(64)}.com`])(
    '%s is fine here',
    (hostname) => {
      expect(remarks('hostname-is-ip', httpRoute({ hostnames: [hostname] }))).toEqual([]);
    },
  );

  test('a hostname of a route', () => {
    const route = httpRoute({ hostnames: ['a.example', '10.0.0.1', '*.10.0.0.1'] });
    expect(remarks('hostname-is-ip', route)).toEqual([
      ['spec.hostnames[1]', message],
      [
        'spec.hostnames[2]',
        'Invalid hostname "*.10.0.0.1": an IP address follows "*.". Use a DNS name, for example *.example.com.',
      ],
    ]);
  });

  test('a hostname of a redirect, a rewrite and a listener', () => {
    const filters = [
      { type: 'RequestRedirect', requestRedirect: { hostname: '10.0.0.1' } },
      { type: 'URLRewrite', urlRewrite: { hostname: '10.0.0.1' } },
    ];
    expect(remarks('hostname-is-ip', httpRoute({ rules: [{ filters }] }))).toEqual([
      ['spec.rules[0].filters[0].requestRedirect.hostname', message],
      ['spec.rules[0].filters[1].urlRewrite.hostname', message],
    ]);
    expect(remarks('hostname-is-ip', gatewayWith({ name: 'a', hostname: '10.0.0.1' }))).toEqual([
      ['spec.listeners[0].hostname', message],
    ]);
  });
});
