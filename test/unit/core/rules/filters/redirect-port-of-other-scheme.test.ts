import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('redirect-port-of-other-scheme', () => {
  test.each<[object]>([
    [{ filters: [ { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } } ], backendRefs: [] }],
    [{ filters: [ { type: 'RequestRedirect', requestRedirect: { scheme: 'https', port: 8443 } } ], backendRefs: [] }],
    [{ filters: [ { type: 'RequestRedirect', requestRedirect: { port: 80 } } ], backendRefs: [] }],
  ])('%j is fine', (value) => {
    expect(remarks('redirect-port-of-other-scheme', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [{ filters: [ { type: 'RequestRedirect', requestRedirect: { scheme: 'https', port: 80 } } ], backendRefs: [] }, [ 'spec.rules[0].filters[0].requestRedirect.port', 'Port 80 is that of http, but the redirect leads to https. Leave port out for the one that goes with https, or write scheme: http.' ]],
    [{ filters: [ { type: 'RequestRedirect', requestRedirect: { scheme: 'http', port: 443 } } ], backendRefs: [] }, [ 'spec.rules[0].filters[0].requestRedirect.port', 'Port 443 is that of https, but the redirect leads to http. Leave port out for the one that goes with http, or write scheme: https.' ]],
  ])('%j', (value, ...expected) => {
    expect(remarks('redirect-port-of-other-scheme', object(value))).toEqual(expected);
  });
});
