import { describe, expect, test } from '@jest/globals';
import { gatewayWith, httpRoute, remarks } from '../../../../support/rules.ts';

const long = `${'a'.repeat(64)}.example.com`;
const message = (shown: string) =>
  `Invalid hostname "${shown}…": label "${'a'.repeat(23)}…" has 64 characters. Use at most 63 characters between two dots.`;

describe('hostname-label-too-long', () => {
  test.each([`${'a'.repeat(63)}.example.com`, '10.0.0.1', 'a..b'])('%s is fine here', (hostname) => {
    expect(remarks('hostname-label-too-long', httpRoute({ hostnames: [hostname] }))).toEqual([]);
  });

  test('wherever a hostname stands', () => {
    const route = httpRoute({
      hostnames: [long, `*.${long}`],
      rules: [{ filters: [{ type: 'URLRewrite', urlRewrite: { hostname: long } }] }],
    });
    expect(remarks('hostname-label-too-long', route)).toEqual([
      ['spec.hostnames[0]', message('a'.repeat(63))],
      ['spec.hostnames[1]', message(`*.${'a'.repeat(61)}`)],
      ['spec.rules[0].filters[0].urlRewrite.hostname', message('a'.repeat(63))],
    ]);
    expect(
      remarks('hostname-label-too-long', gatewayWith({ name: 'a', hostname: long })).map(([path]) => path),
    ).toEqual(['spec.listeners[0].hostname']);
  });
});
