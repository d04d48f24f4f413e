import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute, routeWith } from '../../../../support/rules.ts';

const unreadable = (object: unknown) => found('unreadable-field', [object]);
const says = (path: string, expected: string, actual: string) =>
  `Invalid value at ${path}: must be ${expected}, not ${actual}. Use ${expected}, or remove the field.`;

describe('unreadable-field', () => {
  test.each<[string, unknown, string, string, string, string]>([
    ['a route', httpRoute('none'), 'spec', 'an object', 'a string', 'object'],
    ['its rules', httpRoute({ rules: {} }), 'spec.rules', 'a list', 'an object', 'object'],
    [
      'its hostnames',
      httpRoute({ hostnames: ['a.example.com', 5] }),
      'spec.hostnames[1]',
      'a string',
      'an integer',
      'object',
    ],
    [
      'a parentRef',
      httpRoute({ parentRefs: [{ name: 'front', port: '80' }] }),
      'spec.parentRefs[0].port',
      'an integer',
      'a string',
      'parentRef',
    ],
    ['a rule', routeWith(true), 'spec.rules[0]', 'an object', 'a boolean', 'rule'],
    ['its matches', routeWith({ matches: 'all' }), 'spec.rules[0].matches', 'a list', 'a string', 'rule'],
    [
      'a match',
      routeWith({}, { matches: [{}, { path: { value: 1.5 } }] }),
      'spec.rules[1].matches[1].path.value',
      'a string',
      'a number',
      'match',
    ],
    ['a filter', routeWith({ filters: [[]] }), 'spec.rules[0].filters[0]', 'an object', 'a list', 'rule'],
    [
      'a backendRef',
      routeWith({ backendRefs: [{ name: 'cart', port: '8080' }] }),
      'spec.rules[0].backendRefs[0].port',
      'an integer',
      'a string',
      'backendRef',
    ],
    [
      'a listener',
      gatewayWith({ name: 'web', port: 80, protocol: ['HTTP'] }),
      'spec.listeners[0].protocol',
      'a string',
      'a list',
      'listener',
    ],
  ])('%s fails as far as it must', (_, object, ...[path, expected, actual, scope]) => {
    expect(unreadable(object)).toEqual([[path, says(path, expected, actual), `Accepted UnsupportedValue ${scope}`]]);
  });

  test('a Gateway and a class have reasons of their own', () => {
    expect(unreadable({ ...(gatewayWith() as object), spec: { listeners: 'none' } })).toEqual([
      ['spec.listeners', says('spec.listeners', 'a list', 'a string'), 'Accepted Invalid object'],
    ]);
    expect(unreadable({ ...ourClass, spec: 5 })).toEqual([
      ['spec', says('spec', 'an object', 'an integer'), 'Accepted Unsupported object'],
    ]);
    expect(unreadable({ ...ourClass, spec: undefined })).toEqual([
      ['spec', says('spec', 'an object', 'nothing'), 'Accepted Unsupported object'],
    ]);
  });

  test('null is as good as absent', () => {
    expect(unreadable(httpRoute({ hostnames: null, rules: [{ matches: null }] }))).toEqual([]);
  });
});
