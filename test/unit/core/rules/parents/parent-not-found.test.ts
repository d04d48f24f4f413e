import { describe, expect, test } from '@jest/globals';
import { found, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const route = httpRoute({ parentRefs: [{ name: 'front' }, { name: 'back', namespace: 'infra' }] });
const notSeen = (gateway: string) =>
  `Gateway "${gateway}" not found. Check its name and namespace, or create it. Until then, the route is not attached to it.`;

describe('parent-not-found', () => {
  test('names each parent that is missing, in the namespace that is meant', () => {
    expect(found('parent-not-found', [route, ourClass])).toEqual([
      ['spec.parentRefs[0]', notSeen('shop/front'), 'none'],
      ['spec.parentRefs[1]', notSeen('infra/back'), 'none'],
    ]);
  });

  test('is silent once the parent exists, whoever serves it', () => {
    expect(found('parent-not-found', [route, gatewayWith()])).toHaveLength(1);
  });

  test('shows names that no API server would store so that they can be read', () => {
    const findings = found('parent-not-found', [
      httpRoute({ parentRefs: [{ name: `a\u0007\n${'b'.repeat(1_000)}` }] }),
      ourClass,
    ]);
    expect(findings).toEqual([
      [
        'spec.parentRefs[0]',
        expect.stringMatching(/^Gateway "shop\/a\\u0007\\nb{300,320}…" not found\. Check/),
        'none',
      ],
    ]);
  });

  test('leaves parents of other kinds to others', () => {
    expect(
      found('parent-not-found', [httpRoute({ parentRefs: [{ kind: 'Service', group: '', name: 'cart' }] })]),
    ).toEqual([]);
  });
});
