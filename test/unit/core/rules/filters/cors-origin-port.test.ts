import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('cors-origin-port', () => {
  test.each<[object]>([
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://shop.example.com:8443' ] } } ] }],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ '*' ] } } ] }],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://a.example', 'https://a.example:65535' ] } } ] }],
  ])('%j is fine', (value) => {
    expect(remarks('cors-origin-port', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://shop.example.com:84430' ] } } ] }, [ 'spec.rules[0].filters[0].cors.allowOrigins[0]', 'No browser sends the origin "https://shop.example.com:84430": there is no port 84430. Write a port from 1 to 65535, or leave it out.' ]],
    [{ filters: [ { type: 'CORS', cors: { allowOrigins: [ 'https://a.example:0', 'http://*:99999' ] } } ] }, [ 'spec.rules[0].filters[0].cors.allowOrigins[0]', 'No browser sends the origin "https://a.example:0": there is no port 0. Write a port from 1 to 65535, or leave it out.' ], [ 'spec.rules[0].filters[0].cors.allowOrigins[1]', 'No browser sends the origin "http://*:99999": there is no port 99999. Write a port from 1 to 65535, or leave it out.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('cors-origin-port', object(value))).toEqual(expected);
  });
});
