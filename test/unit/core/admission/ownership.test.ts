import { describe, expect, test } from '@jest/globals';
import { impactOf } from '../../../../src/core/admission/impact.ts';
import { runToEnd, type Steps } from '../../../../src/core/text/steps.ts';
import { judge } from '../../../../src/core/admission/judge.ts';
import { write } from '../../../../src/core/incremental/index.ts';
import { objectCell } from '../../../../src/core/graph/inputs.ts';
import { ownership } from '../../../../src/core/graph/ownership.ts';
import { candidateCalled, candidateOf, evaluate, standardPolicy } from '../../../support/evaluation.ts';
import { gatewayClass, gatewayOf } from '../../../support/ownership.ts';

// Findings about what Sallyport serves belong on Sallyport's objects only.

const ours = [gatewayClass('ours', 'sallyport.dev/gateway-controller'), gatewayOf('ours')];
const theirs = [gatewayClass('istio', 'istio.io/gateway-controller'), gatewayOf('istio')];
const unclear = [gatewayOf('unclear')];

const hostname = { group: 'networking.istio.io', kind: 'Hostname', name: 'a.example.com', port: 80 };

function route(parents: readonly object[], backendRef: object = hostname): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: { parentRefs: parents, rules: [{ backendRefs: [backendRef] }] },
  };
}

function listenerSet(parentRef: object): object {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'ListenerSet',
    metadata: { name: 'more', namespace: 'shop' },
    spec: { parentRef, listeners: [{ name: 'a', port: 81, protocol: 'HTTP' }] },
  };
}

function judged(objects: readonly object[], overrides = {}): readonly (readonly [string, string, string])[] {
  const world = evaluate(objects);
  return judge(world.kernel.read, candidateCalled(world, 'HTTPRoute', 'shop/cart'), {
    ...standardPolicy,
    overrides,
  }).map(({ rule, effect, message }) => [rule, effect, message]);
}

const all = [...ours, ...theirs, ...unclear];
const says =
  'Unsupported backend kind networking.istio.io/Hostname: its share of requests is answered with 500. Use kind: Service and an empty group.';

describe('a finding about what is served', () => {
  test('has its effect on an object of ours', () => {
    expect(judged([...all, route([{ name: 'ours' }])])).toEqual([['backend-kind-unsupported', 'warn', says]]);
  });

  test('is none on an object of another controller, whatever the settings say', () => {
    expect(judged([...all, route([{ name: 'istio' }])])).toEqual([]);
    expect(judged([...all, route([{ name: 'istio' }])], { 'unsupported-feature': 'deny' })).toEqual([]);
    expect(judged([...all, route([{ group: '', kind: 'Service', name: 'cart' }])])).toEqual([]);
  });

  test.each([
    ['a Gateway that was not seen', [{ name: 'unseen' }]],
    ['a Gateway of a class that was not seen', [{ name: 'unclear' }]],
    ['others and one that is not known', [{ name: 'istio' }, { name: 'unclear' }]],
  ])('is recorded where the controller is not known: %s', (_case, parents) => {
    expect(judged([...all, route(parents)]).filter(([rule]) => rule !== 'parent-not-found')).toEqual([
      ['backend-kind-unsupported', 'record', says],
    ]);
  });

  test('is recorded for a route alone', () => {
    expect(
      judged([route([{ name: 'ours' }])])
        .filter(([rule]) => rule === 'backend-kind-unsupported')
        .map(([, effect]) => effect),
    ).toEqual(['record']);
  });

  test('warns at most where other controllers serve the object, too, and names the parents it applies to', () => {
    const message = `${says} This applies to Gateway "shop/ours", not to the parents of other controllers.`;
    expect(judged([...all, route([{ name: 'istio' }, { name: 'ours' }])])).toEqual([
      ['backend-kind-unsupported', 'warn', message],
    ]);
  });

  test('leaves the findings of the specification where they are', () => {
    expect(judged([...all, route([{ name: 'istio' }], { name: 'cart', port: 80 })]).map(([rule]) => rule)).toEqual([
      'backend-not-found',
    ]);
    expect(
      judged([...all, route([{ name: 'istio' }], { kind: 'Servce', name: 'cart', port: 80 })]).map(([rule]) => rule),
    ).toEqual(['backend-kind-unsupported']);
  });

  test('is no impact of a change on an object of others', () => {
    const service = (appProtocol: string) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'cart', namespace: 'shop' },
      spec: { ports: [{ port: 80, appProtocol }] },
    });
    const broken = (parent: string): number => {
      const { kernel } = evaluate([...all, service('http'), route([{ name: parent }], { name: 'cart', port: 80 })]);
      const { resource } = candidateOf(service('example.com/own'));
      const after = kernel.overlay([write(objectCell, ['Service', 'shop', 'cart'], resource)]);
      return runToEnd(impactOf(at(kernel.read), after, { self: 'Service/shop/cart', mayContinue: () => true })).broken
        .length;
    };
    expect([broken('ours'), broken('istio')]).toEqual([1, 0]);
  });
});

describe('ownership', () => {
  const standing = (objects: readonly object[], kind: string, name: string) =>
    evaluate(objects).kernel.read.query(ownership, kind, kind === 'GatewayClass' ? '' : 'shop', name).standing;

  test('of classes and Gateways', () => {
    expect([
      standing(all, 'GatewayClass', 'ours'),
      standing(all, 'GatewayClass', 'istio'),
      standing(all, 'GatewayClass', 'unseen'),
    ]).toEqual(['ours', 'other', 'unknown']);
    expect([
      standing(all, 'Gateway', 'ours'),
      standing(all, 'Gateway', 'istio'),
      standing(all, 'Gateway', 'unclear'),
      standing(all, 'Gateway', 'unseen'),
    ]).toEqual(['ours', 'other', 'unknown', 'unknown']);
  });

  test.each([
    [{ name: 'ours' }, 'ours'],
    [{ name: 'istio' }, 'other'],
    [{ name: 'unseen' }, 'unknown'],
    [{ kind: 'ListenerSet', name: 'more' }, 'other'],
  ])('of a ListenerSet with the parent %j, and of routes on it', (parentRef, expected) => {
    const objects = [...all, listenerSet(parentRef), route([{ kind: 'ListenerSet', name: 'more' }])];
    expect([standing(objects, 'ListenerSet', 'more'), standing(objects, 'HTTPRoute', 'cart')]).toEqual([
      expected,
      expected,
    ]);
  });
});

/** What was before, known at once. */
function at<T>(reader: T): () => Steps<T> {
  return function* before() {
    yield;
    return reader;
  };
}
