import { describe, expect, test } from '@jest/globals';
import { attachments, maxListenersOfRoute } from '../../../../src/core/graph/attachment.ts';
import { evaluate, ourClass } from '../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../support/rules.ts';

const gateway = gatewayWith(
  { name: 'web', port: 80, protocol: 'HTTP' },
  { name: 'shop', port: 81, protocol: 'HTTP', hostname: 'shop.example.com' },
);

function outcomes(spec: object): readonly unknown[] {
  const { kernel } = evaluate([httpRoute(spec), gateway, ourClass]);
  return kernel.read.query(attachments, 'HTTPRoute', 'shop', 'cart').map(({ outcome }) => outcome);
}

describe('attachments', () => {
  test('name the listeners, each with the hostnames that it serves', () => {
    expect(
      outcomes({ parentRefs: [{ name: 'front' }], hostnames: ['shop.example.com', 'example.org', 'SHOP.example.com'] }),
    ).toEqual([
      {
        type: 'attached',
        listeners: [
          { name: 'web', hostnames: ['shop.example.com', 'example.org'] },
          { name: 'shop', hostnames: ['shop.example.com'] },
        ],
      },
    ]);
  });

  test.each<[string, object]>([
    ['hostnames', { parentRefs: [{ name: 'front' }], hostnames: 'shop.example.com' }],
    ['one hostname', { parentRefs: [{ name: 'front' }], hostnames: ['shop.example.com', 5] }],
    ['sectionName', { parentRefs: [{ name: 'front', sectionName: 5 }] }],
    ['port', { parentRefs: [{ name: 'front', port: '80' }] }],
  ])('do not come about where the %s cannot be read: nothing may get wider', (_, spec) => {
    expect(outcomes(spec)).toEqual([{ type: 'unreadable' }]);
  });

  test('leave to others what is theirs', () => {
    const parentRefs = [{ group: '', kind: 'Service', name: 'front' }, { name: 'gone' }];
    expect(outcomes({ parentRefs })).toEqual([{ type: 'foreign' }, { type: 'absent' }]);
  });
});

describe('the limit of the listeners of a route', () => {
  const owner = (name: string, listeners: readonly object[]) => ({
    ...(gatewayWith(...listeners) as object),
    metadata: { namespace: 'shop', name },
  });
  const many = (count: number, rest: object = {}) =>
    Array.from({ length: count }, (_, index) => ({ name: `l${index}`, port: 80 + index, protocol: 'HTTP', ...rest }));

  function resultsOf(gateways: Readonly<Record<string, readonly object[]>>, spec: object = {}): readonly string[] {
    const objects = Object.entries(gateways).map(([name, listeners]) => owner(name, listeners));
    const parentRefs = Object.keys(gateways).map((name) => ({ name }));
    const { kernel } = evaluate([httpRoute({ parentRefs, ...spec }), ...objects, ourClass]);
    return kernel.read.query(attachments, 'HTTPRoute', 'shop', 'cart').map(({ outcome }) => {
      if (outcome.type === 'attached') return `attached to ${outcome.listeners.length}`;
      return outcome.type === 'tooManyListeners'
        ? `no room for ${outcome.count} after ${outcome.attached}`
        : outcome.type;
    });
  }

  test('two Gateways of the maximum size fit', () => {
    expect(maxListenersOfRoute).toBe(128);
    expect(resultsOf({ one: many(64), two: many(64) })).toEqual(['attached to 64', 'attached to 64']);
  });

  test('a parentRef that does not fit attaches to none of its listeners, and takes no room from the ones after it', () => {
    expect(resultsOf({ one: many(64), two: many(63), three: many(2), four: many(1), five: many(1) })).toEqual([
      'attached to 64',
      'attached to 63',
      'no room for 2 after 127',
      'attached to 1',
      'no room for 1 after 128',
    ]);
  });

  test('only listeners that the route attaches to count', () => {
    const named = (one: string) => many(64).map((listener, index) => ({ ...listener, hostname: `${one}${index}.org` }));
    expect(
      resultsOf(
        { one: many(64), foreign: named('b'), kind: many(64, { protocol: 'TCP' }), some: named('a'), two: many(62) },
        { hostnames: ['a1.org', 'a2.org'] },
      ),
    ).toEqual(['attached to 64', 'noHostname', 'notAllowed', 'attached to 2', 'attached to 62']);
  });

  test('a parentRef with sectionName counts one listener', () => {
    const parentRefs = [{ name: 'one' }, { name: 'two' }, { name: 'three', sectionName: 'l5' }];
    expect(resultsOf({ one: many(64), two: many(63), three: many(64) }, { parentRefs })).toEqual([
      'attached to 64',
      'attached to 63',
      'attached to 1',
    ]);
  });
});
