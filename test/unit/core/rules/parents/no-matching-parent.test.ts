import { describe, expect, test } from '@jest/globals';
import { found, listenerSet, ourClass } from '../../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../../support/rules.ts';

const gateway = gatewayWith(
  { name: 'web', port: 80, protocol: 'HTTP' },
  { name: 'admin', port: 8080, protocol: 'HTTP' },
);
const asked = (parentRef: object) =>
  found('no-matching-parent', [httpRoute({ parentRefs: [{ name: 'front', ...parentRef }] }), gateway, ourClass]);
const nothingThere = (parent: string) =>
  `${parent} has no accepted listener to attach to. See its status, or use another parent.`;

describe('no-matching-parent', () => {
  test.each([{}, { sectionName: 'web' }, { port: 8080 }, { sectionName: 'admin', port: 8080 }])(
    '%j is fine',
    (parentRef) => {
      expect(asked(parentRef)).toEqual([]);
    },
  );

  test.each<[object, string]>([
    [{ sectionName: 'webb' }, 'name webb'],
    [{ port: 81 }, 'port 81'],
    [{ sectionName: 'web', port: 8080 }, 'name web and port 8080'],
  ])('%j', (parentRef, words) => {
    expect(asked(parentRef)).toEqual([
      [
        'spec.parentRefs[0]',
        `Listener with ${words} not found in Gateway "shop/front". Use one of its listeners, or remove sectionName and port to attach to all of them. Listeners: web, admin.`,
        'Accepted NoMatchingParent parentRef',
      ],
    ]);
  });

  // A route with 32 parentRefs repeats it for each.
  test('names five listeners, and the beginnings of long names', () => {
    const names = Array.from({ length: 64 }, (_, index) => `${index}`.padEnd(253, 'x'));
    const many = gatewayWith(...names.map((name, index) => ({ name, port: index + 1, protocol: 'HTTP' })));
    const route = httpRoute({ parentRefs: [{ name: 'front', sectionName: 'y'.repeat(253) }] });
    const shown = (name: string) => `${name.slice(0, 63)}…`;
    expect(found('no-matching-parent', [route, many, ourClass])[0]?.[1]).toBe(
      `Listener with name ${shown('y'.repeat(253))} not found in Gateway "shop/front". Use one of its listeners, or remove sectionName and port to attach to all of them. Listeners: ${names.slice(0, 5).map(shown).join(', ')} and 59 more.`,
    );
  });

  test('says so where there are no listeners at all', () => {
    expect(
      found('no-matching-parent', [
        httpRoute({ parentRefs: [{ name: 'front', port: 80 }] }),
        gatewayWith(),
        ourClass,
      ])[0]?.[1],
    ).toBe(nothingThere('Gateway "shop/front"'));
  });

  test('says so where the Gateway does not take on the ListenerSet', () => {
    const set = listenerSet({
      parentRef: { name: 'front' },
      listeners: [{ name: 'extra', port: 81, protocol: 'HTTP' }],
    });
    const route = httpRoute({ parentRefs: [{ kind: 'ListenerSet', name: 'extra' }] });
    expect(found('no-matching-parent', [route, set, gateway, ourClass])).toEqual([
      ['spec.parentRefs[0]', nothingThere('ListenerSet "shop/extra"'), 'Accepted NoMatchingParent parentRef'],
    ]);
    expect(found('no-matching-parent', [route, set, ourClass])).toEqual([]);
  });

  test('is silent about Gateways that somebody else serves', () => {
    expect(found('no-matching-parent', [httpRoute({ parentRefs: [{ name: 'front', port: 81 }] }), gateway])).toEqual(
      [],
    );
  });
});
