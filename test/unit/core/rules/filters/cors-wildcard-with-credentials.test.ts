import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('cors-wildcard-with-credentials', () => {
  test.each<[object]>([
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://shop.example.com' ], allowCredentials: true } } ] }],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ '*' ] } } ] }],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ '*' ], allowCredentials: false } } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('cors-wildcard-with-credentials', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ '*' ], allowCredentials: true } } ] }, [ 'spec.rules[0].filters[0].cors.allowOrigins[0]', 'allowCredentials is true and allowOrigins is "*": any web site could act with the cookies of its visitors. List what is needed, or write allowCredentials: false.' ]],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://a.example' ], allowHeaders: [ '*' ], allowCredentials: true } } ] }, [ 'spec.rules[0].filters[0].cors.allowHeaders[0]', 'allowCredentials is true and allowHeaders is "*": browsers do not take "*" for everything where credentials are sent. List what is needed, or write allowCredentials: false.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('cors-wildcard-with-credentials', object(value))).toEqual(expected);
  });
});
