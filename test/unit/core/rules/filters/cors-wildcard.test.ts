import { describe, expect, test } from '@jest/globals';
import { objectOf, refusals, refusingBundles } from '../../../../support/rules.ts';

describe('cors-wildcard', () => {
  const routeWith = (cors: object): unknown =>
    objectOf('HTTPRoute', 'v1', { rules: [{ filters: [{ type: 'CORS', cors }] }] });

  test.each([
    [{ allowOrigins: ['*'] }],
    [{ allowMethods: ['GET', 'PUT'] }],
    [{ allowHeaders: ['x-*'] }],
    [{ exposeHeaders: ['*', 'x-team'] }],
  ])('%j is fine', (cors) => {
    expect(refusals('cors-wildcard', routeWith(cors))).toEqual([]);
  });

  test.each([
    ['allowOrigins', ['https://a.example', '*'], 1, 'origins'],
    ['allowMethods', ['*', 'GET'], 0, 'methods'],
    ['allowHeaders', ['x-team', '*'], 1, 'headers'],
  ])('%s with more than *', (field, values, index, word) => {
    expect(refusals('cors-wildcard', routeWith({ [field]: values }))).toEqual([
      [
        `spec.rules[0].filters[0].cors.${field}[${index}]`,
        `"*" allows everything, so the other values of the list are ignored. Use "*" alone, or remove it and list the ${word}.`,
      ],
    ]);
  });

  test('looks at filters of backendRefs', () => {
    const route = objectOf('HTTPRoute', 'v1', {
      rules: [
        {
          backendRefs: [{ name: 'cart', port: 80, filters: [{ type: 'CORS', cors: { allowMethods: ['*', 'GET'] } }] }],
        },
      ],
    });
    expect(refusals('cors-wildcard', route).map(([path]) => path)).toEqual([
      'spec.rules[0].backendRefs[0].filters[0].cors.allowMethods[0]',
    ]);
  });

  test('was demanded of one list after the other', () => {
    expect(refusingBundles('cors-wildcard', routeWith({ allowMethods: ['*', 'GET'] }))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.3–1.7',
    ]);
    expect(refusingBundles('cors-wildcard', routeWith({ allowOrigins: ['*', 'http://a'] }))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.4–1.7',
    ]);
    expect(refusingBundles('cors-wildcard', routeWith({ allowHeaders: ['*', 'a'] }))).toEqual([
      'standard 1.5–1.7',
      'experimental 1.5–1.7',
    ]);
  });
});
