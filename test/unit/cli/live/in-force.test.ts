import { describe, expect, test } from '@jest/globals';
import { inForceOf, type LiveDataPlanes } from '../../../../src/cli/live/in-force.ts';
import { decodeReport } from '../../../../src/controller/acknowledgement-report.ts';
import { clusterDocument } from '../../../../src/sources/objects.ts';

const route = { kind: 'HTTPRoute', route: 'shop/cart', generation: 4 };
const answered = { gateway: 'shop/web', listener: { owner: 'ListenerSet/shop/more', generation: 3 }, route };

function documents(...observed: readonly (readonly [controllerName: string, generation: number])[]) {
  const parents = observed.map(([controllerName, observedGeneration]) => ({
    controllerName,
    conditions: [{ type: 'Accepted', observedGeneration }],
  }));
  const metadata = { namespace: 'shop', name: 'cart' };
  return [clusterDocument({ kind: 'HTTPRoute', metadata, status: { parents } }, 0)];
}

const ours = 'sallyport.dev/gateway-controller';
const reconciled = documents([ours, 4], ['example.com/other', 1]);

function live(pods: Readonly<Record<string, boolean>>, ...reports: readonly object[]): LiveDataPlanes {
  return {
    pods: Object.entries(pods).map(([name, isReady]) => ({
      namespace: 'shop',
      name,
      gatewayLabel: 'web',
      options: [],
      isReady,
      image: '',
      problems: [],
    })),
    reports: reports.map((report) => decodeReport(JSON.stringify({ 'shop/web': report }))),
  };
}

const at = (generation: number) => ({ generations: { 'ListenerSet/shop/more': generation } });

describe('an answer', () => {
  test('is in force where all ready pods have acknowledged the generation to any replica', () => {
    expect(
      inForceOf(answered, live({ a: true, b: true, c: false }, { a: at(3) }, { b: at(3), a: at(2) }), reconciled),
    ).toEqual({
      generation: 3,
      pods: [
        { pod: 'shop/a', generation: 3 },
        { pod: 'shop/b', generation: 3 },
      ],
      isInForce: true,
      lines: ['2 of 2 ready pods serve generation 3 of ListenerSet shop/more'],
    });
  });

  test('is not in force on pods that are late or not connected', () => {
    expect(inForceOf(answered, live({ a: true, b: true, c: true }, { a: at(3), b: at(2) }), reconciled)).toMatchObject({
      isInForce: false,
      lines: [
        '1 of 3 ready pods serve generation 3 of ListenerSet shop/more',
        'not in force: pod shop/b serves generation 2',
        'not in force: pod shop/c is not connected to the controller',
      ],
    });
    expect(inForceOf(answered, live({ a: false }, { a: at(3) }), reconciled)).toMatchObject({
      isInForce: false,
      lines: ['not in force: no data plane pod is ready'],
    });
  });

  test.each([[documents()], [documents([ours, 3])], [documents(['example.com/other', 4])], [[]]])(
    'is not in force while the controller has not reconciled the route',
    (stored) => {
      expect(inForceOf(answered, live({ a: true }, { a: at(3) }), stored)).toMatchObject({
        isInForce: false,
        lines: [
          '1 of 1 ready pods serve generation 3 of ListenerSet shop/more',
          'not in force: the controller has not reconciled generation 4 of HTTPRoute shop/cart',
        ],
      });
    },
  );

  test('without a route or a listener needs no route', () => {
    expect(inForceOf({ ...answered, route: undefined }, live({ a: true }, { a: at(3) }), [])?.isInForce).toBe(true);
    expect(inForceOf({ ...answered, listener: undefined }, live({}), [])).toBeUndefined();
  });
});
