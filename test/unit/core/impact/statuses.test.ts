import { describe, expect, test } from '@jest/globals';
import { compareStatuses, type EditedObjects, type StatusChange } from '../../../../src/core/impact/statuses.ts';
import type { Condition } from '../../../../src/core/status/conditions.ts';
import type { OwnStatus } from '../../../../src/core/status/emit.ts';

/** `Accepted=True`, or `Accepted=False:Invalid` with a reason. */
function condition(text: string, message = ''): Condition {
  const [type = '', status = '', reason = type] = text.split(/[=:]/);
  return { type, status: status as Condition['status'], reason, message, observedGeneration: 1 };
}

const parentRef = { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'infra', name: 'front' } as const;
const controllerName = 'sallyport.dev/gateway-controller';

function routeStatus(...conditions: readonly string[]): OwnStatus {
  return { parents: [{ parentRef, controllerName, conditions: conditions.map((text) => condition(text)) }] };
}

const nothingEdited: EditedObjects = { created: new Set(), deleted: new Set() };

function compare(
  before: Readonly<Record<string, OwnStatus>>,
  after: Readonly<Record<string, OwnStatus>>,
  edited: Partial<EditedObjects> = {},
): readonly StatusChange[] {
  return compareStatuses(new Map(Object.entries(before)), new Map(Object.entries(after)), {
    ...nothingEdited,
    ...edited,
  });
}

const key = 'HTTPRoute/shop/cart';
const brief = (changes: readonly StatusChange[]): readonly string[] =>
  changes.map(({ object, part, condition: type, effect }) => `${effect}: ${object}, ${part}, ${type}`);

describe('compareStatuses', () => {
  test.each<[string, readonly string[], readonly string[], readonly string[]]>([
    ['the same conditions', ['Accepted=True'], ['Accepted=True'], []],
    [
      'a condition that turns False',
      ['Accepted=True'],
      ['Accepted=False:NoMatchingParent'],
      ['broken: HTTPRoute shop/cart, parent infra/front, Accepted'],
    ],
    [
      'a condition that turns Unknown',
      ['Accepted=True'],
      ['Accepted=Unknown:Pending'],
      ['broken: HTTPRoute shop/cart, parent infra/front, Accepted'],
    ],
    [
      'a condition that turns True',
      ['ResolvedRefs=False:BackendNotFound'],
      ['ResolvedRefs=True'],
      ['recovered: HTTPRoute shop/cart, parent infra/front, ResolvedRefs'],
    ],
    [
      'another reason',
      ['ResolvedRefs=False:BackendNotFound'],
      ['ResolvedRefs=False:RefNotPermitted'],
      ['changed: HTTPRoute shop/cart, parent infra/front, ResolvedRefs'],
    ],
    [
      'a problem that comes',
      ['Accepted=True'],
      ['Accepted=True', 'PartiallyInvalid=True:UnsupportedValue'],
      ['broken: HTTPRoute shop/cart, parent infra/front, PartiallyInvalid'],
    ],
    [
      'a problem that goes',
      ['Accepted=True', 'sallyport.dev/Shadowed=True'],
      ['Accepted=True'],
      ['recovered: HTTPRoute shop/cart, parent infra/front, sallyport.dev/Shadowed'],
    ],
    [
      'several conditions',
      ['Accepted=True', 'ResolvedRefs=False'],
      ['Accepted=False:NoMatchingParent', 'ResolvedRefs=True'],
      [
        'broken: HTTPRoute shop/cart, parent infra/front, Accepted',
        'recovered: HTTPRoute shop/cart, parent infra/front, ResolvedRefs',
      ],
    ],
  ])('%s', (_, before, after, changes) => {
    expect(brief(compare({ [key]: routeStatus(...before) }, { [key]: routeStatus(...after) }))).toEqual(changes);
  });

  test('a message alone is no change, and neither is a generation', () => {
    const status = (message: string, observedGeneration: number): OwnStatus => ({
      conditions: [{ ...condition('Accepted=False:Invalid', message), observedGeneration }],
    });
    expect(compare({ 'GatewayClass//ours': status('one', 1) }, { 'GatewayClass//ours': status('other', 2) })).toEqual(
      [],
    );
  });

  test('both states are reported', () => {
    const status = (...conditions: readonly Condition[]): OwnStatus => ({ conditions });
    expect(
      compare(
        { 'GatewayClass//ours': status(condition('Accepted=True')) },
        { 'GatewayClass//ours': status(condition('Accepted=False:InvalidParameters', 'no such object')) },
      ),
    ).toEqual([
      {
        object: 'GatewayClass ours',
        part: '',
        condition: 'Accepted',
        effect: 'broken',
        before: { status: 'True', reason: 'Accepted', message: '' },
        after: { status: 'False', reason: 'InvalidParameters', message: 'no such object' },
      },
    ]);
  });

  test('a parent that goes is broken, and its problems do not count as solved', () => {
    const before = { [key]: routeStatus('Accepted=True', 'PartiallyInvalid=True') };
    expect(brief(compare(before, { [key]: { parents: [] } }))).toEqual([
      'broken: HTTPRoute shop/cart, parent infra/front, Accepted',
      'changed: HTTPRoute shop/cart, parent infra/front, PartiallyInvalid',
    ]);
    expect(brief(compare(before, {}))).toEqual([
      'broken: HTTPRoute shop/cart, parent infra/front, Accepted',
      'changed: HTTPRoute shop/cart, parent infra/front, PartiallyInvalid',
    ]);
  });

  test('each part of a status is compared with itself', () => {
    const listener = (name: string, ...conditions: readonly string[]) => ({
      name,
      attachedRoutes: 1,
      supportedKinds: [],
      conditions: conditions.map((text) => condition(text)),
    });
    const gateway = (accepted: string, ...listeners: readonly ReturnType<typeof listener>[]): OwnStatus => ({
      addresses: [],
      conditions: [condition(accepted)],
      listeners,
    });
    expect(
      brief(
        compare(
          {
            'Gateway/infra/front': gateway(
              'Accepted=True',
              listener('http', 'Programmed=True'),
              listener('https', 'Programmed=False:Invalid'),
            ),
          },
          {
            'Gateway/infra/front': gateway(
              'Accepted=True',
              listener('http', 'Programmed=False:Invalid'),
              listener('https', 'Programmed=True'),
            ),
          },
        ),
      ),
    ).toEqual([
      'broken: Gateway infra/front, listener http, Programmed',
      'recovered: Gateway infra/front, listener https, Programmed',
    ]);

    const parents = (one: string, other: string): OwnStatus => ({
      parents: [
        { parentRef: { ...parentRef, sectionName: 'http' }, controllerName, conditions: [condition(one)] },
        { parentRef: { ...parentRef, port: 443 }, controllerName, conditions: [condition(other)] },
      ],
    });
    expect(
      brief(
        compare(
          { [key]: parents('Accepted=True', 'Accepted=True') },
          { [key]: parents('Accepted=True', 'Accepted=False') },
        ),
      ),
    ).toEqual(['broken: HTTPRoute shop/cart, parent infra/front:443, Accepted']);
    expect(
      brief(
        compare(
          { [key]: parents('Accepted=True', 'Accepted=True') },
          { [key]: parents('Accepted=False', 'Accepted=True') },
        ),
      ),
    ).toEqual(['broken: HTTPRoute shop/cart, parent infra/front/http, Accepted']);
  });

  test('a Gateway and a ListenerSet of one name are two parents', () => {
    const parents = (ofGateway: string, ofSet: string): OwnStatus => ({
      parents: [
        { parentRef, controllerName, conditions: [condition(ofGateway)] },
        { parentRef: { ...parentRef, kind: 'ListenerSet' }, controllerName, conditions: [condition(ofSet)] },
      ],
    });
    expect(
      brief(
        compare(
          { [key]: parents('Accepted=True', 'Accepted=True') },
          { [key]: parents('Accepted=False', 'Accepted=True') },
        ),
      ),
    ).toEqual(['broken: HTTPRoute shop/cart, parent infra/front, Accepted']);
    expect(
      brief(
        compare(
          { [key]: parents('Accepted=True', 'Accepted=True') },
          { [key]: parents('Accepted=True', 'Accepted=False') },
        ),
      ),
    ).toEqual(['broken: HTTPRoute shop/cart, parent ListenerSet infra/front, Accepted']);
  });

  test('ancestors of a policy', () => {
    const policy = (...conditions: readonly string[]): OwnStatus => ({
      ancestors: [{ ancestorRef: parentRef, controllerName, conditions: conditions.map((text) => condition(text)) }],
    });
    expect(
      brief(
        compare(
          { 'BackendTLSPolicy/shop/cart': policy('Accepted=True') },
          { 'BackendTLSPolicy/shop/cart': policy('Accepted=False:Conflicted') },
        ),
      ),
    ).toEqual(['broken: BackendTLSPolicy shop/cart, ancestor infra/front, Accepted']);
  });

  test('an object that the change deletes has no status to report', () => {
    expect(compare({ [key]: routeStatus('Accepted=True') }, {}, { deleted: new Set([key]) })).toEqual([]);
  });

  test('an object that the change creates is reported where it does not work, which is no loss', () => {
    expect(
      brief(
        compare(
          {},
          { [key]: routeStatus('Accepted=True', 'ResolvedRefs=False:BackendNotFound', 'PartiallyInvalid=True') },
          { created: new Set([key]) },
        ),
      ),
    ).toEqual([
      'changed: HTTPRoute shop/cart, parent infra/front, ResolvedRefs',
      'changed: HTTPRoute shop/cart, parent infra/front, PartiallyInvalid',
    ]);
  });

  test('objects are in the order of their names', () => {
    const [good, bad] = [routeStatus('Accepted=True'), routeStatus('Accepted=False')];
    const changes = compare(
      { 'HTTPRoute/shop/b': good, 'GRPCRoute/shop/c': good, 'HTTPRoute/shop/a': good },
      { 'HTTPRoute/shop/a': bad, 'HTTPRoute/shop/b': bad, 'GRPCRoute/shop/c': bad },
    );
    expect(changes.map(({ object }) => object)).toEqual(['GRPCRoute shop/c', 'HTTPRoute shop/a', 'HTTPRoute shop/b']);
  });
});
