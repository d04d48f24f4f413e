import { describe, expect, test } from '@jest/globals';
import { remarks, soundRoute } from '../../../../support/rules.ts';

const object = (rule: object): unknown => soundRoute(rule);

describe('redirect-port-of-other-scheme', () => {
  test.each<[object]>([
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https' } }], backendRefs: [] }],
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', port: 8443 } }], backendRefs: [] }],
    [{ filters: [{ type: 'RequestRedirect', requestRedirect: { port: 80 } }], backendRefs: [] }],
  ])('%j is fine', (value) => {
    expect(remarks('redirect-port-of-other-scheme', object(value))).toEqual([]);
  });

  test.each<[object, ...[path: string, message: string][]]>([
    [
      { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'https', port: 80 } }], backendRefs: [] },
      [
        'spec.rules[0].filters[0].requestRedirect.port',
        'Port 80 conflicts with scheme https: it is the port of http. Remove port to use the default port of https, or use scheme: http.',
      ],
    ],
    [
      { filters: [{ type: 'RequestRedirect', requestRedirect: { scheme: 'http', port: 443 } }], backendRefs: [] },
      [
        'spec.rules[0].filters[0].requestRedirect.port',
        'Port 443 conflicts with scheme http: it is the port of https. Remove port to use the default port of http, or use scheme: https.',
      ],
    ],
  ])('%j', (value, ...expected) => {
    expect(remarks('redirect-port-of-other-scheme', object(value))).toEqual(expected);
  });
});
