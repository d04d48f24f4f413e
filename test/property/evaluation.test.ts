import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { decideAdmission } from '../../src/core/admission/decide.ts';
import { candidateOf as readCandidate } from '../../src/core/admission/candidate.ts';
import { judge } from '../../src/core/admission/judge.ts';
import type { AdmissionRequest } from '../../src/core/admission/types.ts';
import { attachments } from '../../src/core/graph/attachment.ts';
import { backendPolicyKinds } from '../../src/core/graph/backends/backend-policies.ts';
import {
  acknowledgementCell,
  authorityCell,
  certificateCell,
  installationCell,
  parameterCell,
  withheldCell,
  type Acknowledgement,
  type AuthorityFacts,
  type CertificateFacts,
} from '../../src/core/graph/inputs.ts';
import { isOwnerKind, servingGateway, type ListenerOwner } from '../../src/core/graph/listeners/listener-sets.ts';
import { servedRouteKinds } from '../../src/core/graph/protocols.ts';
import { write, type Kernel, type Reader, type Write } from '../../src/core/incremental/index.ts';
import { identifyObject, parseObject } from '../../src/core/resources/parse.ts';
import { configuration } from '../../src/core/routing/emit.ts';
import { infrastructure } from '../../src/core/routing/infrastructure.ts';
import { configuredListener } from '../../src/core/routing/listener-key.ts';
import { findings } from '../../src/core/rules/engine/run.ts';
import { routesOfListener, routeValidity } from '../../src/core/rules/engine/validity.ts';
import type { ParentNode } from '../../src/core/semantics/parent-reference.ts';
import type { Condition } from '../../src/core/status/conditions.ts';
import { statuses } from '../../src/core/status/emit.ts';
import { gatewayStatus } from '../../src/core/status/gateway.ts';
import { listenerSetStatus } from '../../src/core/status/listener-set.ts';
import type { ListenerStatus } from '../../src/core/status/listeners.ts';
import { policyStatus } from '../../src/core/status/policy.ts';
import { routeStatus } from '../../src/core/status/route.ts';
import { candidateOf, emptyEvaluation, installation, standardPolicy, writeOf } from '../support/evaluation.ts';
import { anyJson, damaged } from './damage.ts';
import { kubernetesObject } from './world.ts';

const withPolicies = { ...installation, hostnamePolicies: true };
const facts: readonly (CertificateFacts | undefined)[] = [
  {
    type: 'certificate',
    notBefore: '2026-01-01T00:00:00Z',
    notAfter: '2027-01-01T00:00:00Z',
  },
  { type: 'unusable', problem: 'it holds no key' },
  undefined,
];
const acknowledgements: readonly (Acknowledgement | undefined)[] = [
  {
    generation: 2,
    addresses: [{ type: 'IPAddress', value: '192.0.2.1' }],
    listenerProblems: { web: 'port 80 is taken' },
  },
  { generation: 1, addresses: [], listenerProblems: {} },
  undefined,
];

const authorities: readonly (AuthorityFacts | undefined)[] = [
  { type: 'authorities', certificates: ['PEM'] },
  { type: 'unusable', problem: 'ca.crt not found in its data' },
  undefined,
];

const somewhere = fc.constantFrom('shop', 'infra');
const event: fc.Arbitrary<Write> = fc.oneof(
  { weight: 12, arbitrary: kubernetesObject.map((json) => upsertOf(json)) },
  { weight: 4, arbitrary: kubernetesObject.map((json) => writeOf(candidateOf(json).resource.ref, undefined)) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(somewhere, fc.constantFrom('good', 'bad'), fc.constantFrom(...facts))
      .map(([namespace, name, value]) => write(certificateCell, [namespace, name], value)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(somewhere, fc.constantFrom('good', 'bad'), fc.constantFrom(...authorities))
      .map(([namespace, name, value]) => write(authorityCell, [namespace, name], value)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(somewhere, fc.constantFrom({ replicas: '2' }, { replicas: 'many' }, undefined))
      .map(([namespace, value]) => write(parameterCell, [namespace, 'settings'], value)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(['Gateway', 'front'], ['Gateway', 'back'], ['ListenerSet', 'extra']),
        somewhere,
        fc.constantFrom(...acknowledgements),
      )
      .map(([[kind = '', name = ''], namespace, value]) => write(acknowledgementCell, [kind, namespace, name], value)),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        somewhere,
        fc.constantFrom('front', 'back'),
        somewhere,
        fc.constantFrom('route/HTTPRoute/shop/one', 'route/GRPCRoute/infra/one', 'endpoints/shop/cart/8080', undefined),
      )
      .map(([namespace, name, of, key]) =>
        write(withheldCell, [namespace, name, of], key === undefined ? key : { [key]: { bytes: 2, limit: 1 } }),
      ),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('v1.7.0', 'v0.0.0-dev')
      .map((version) => write(installationCell, [], { ...withPolicies, bundleVersions: { GatewayClass: version } })),
  },
);
const events = fc.array(event, { maxLength: 60, size: 'max' });

function upsertOf(json: unknown): Write {
  const { resource } = candidateOf(json);
  return writeOf(resource.ref, resource);
}

function inInfra(kind: string, name: string, spec: object): object {
  return { apiVersion: 'gateway.networking.k8s.io/v1', kind, metadata: { name, namespace: 'infra' }, spec };
}

const ours = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'GatewayClass',
  metadata: { name: 'ours' },
  spec: { controllerName: installation.controllerName },
};

/** Where every test begins: a class of ours, so that most Gateways are. */
const beginning: readonly Write[] = [write(installationCell, [], withPolicies), upsertOf(ours)];

function start(): Kernel {
  const kernel = emptyEvaluation();
  kernel.apply(beginning);
  return kernel;
}

function applyEach(kernel: Kernel, writes: readonly Write[]): Kernel {
  for (const one of writes) kernel.apply([one]);
  return kernel;
}

/** The last write of each cell. */
function finalState(writes: readonly Write[]): readonly Write[] {
  return [...new Map(writes.map((one) => [cellOf(one), one])).values()];
}

function cellOf({ input, args }: Write): string {
  return `${input.name} ${args.join(' ')}`;
}

function outcome(kernel: Kernel): unknown {
  return {
    statuses: sorted(kernel.emitted(statuses)),
    configuration: sorted(kernel.emitted(configuration)),
    infrastructure: sorted(kernel.emitted(infrastructure)),
  };
}

function sorted(content: ReadonlyMap<string, unknown>): readonly unknown[] {
  return [...content].sort(([one], [other]) => (one < other ? -1 : 1));
}

/** What admission reads of every object there may be. */
function answers(read: Reader): unknown {
  const routes = servedRouteKinds.flatMap((kind) =>
    ['shop', 'infra'].flatMap((namespace) =>
      ['one', 'two', 'three'].map((name) => [
        read.query(findings, kind, namespace, name),
        read.query(attachments, kind, namespace, name),
        read.query(routeValidity, kind, namespace, name),
        routeStatus(read, kind, namespace, name),
      ]),
    ),
  );
  const gateways = ['shop', 'infra'].flatMap((namespace) =>
    ['front', 'back'].map((name) => [
      read.query(findings, 'Gateway', namespace, name),
      gatewayStatus(read, namespace, name),
      ['web', 'admin', 'tls'].map((listener) =>
        read.list(routesOfListener, `listener/${namespace}/${name}/${listener}`),
      ),
    ]),
  );
  const sets = ['shop', 'infra'].flatMap((namespace) =>
    ['extra', 'more'].map((name) => [
      read.query(findings, 'ListenerSet', namespace, name),
      listenerSetStatus(read, namespace, name),
    ]),
  );
  const policies = ['shop', 'infra'].flatMap((namespace) =>
    backendPolicyKinds.flatMap((kind) =>
      ['a', 'b'].map((name) => [
        read.query(findings, kind, namespace, name),
        policyStatus(read, kind, namespace, name),
      ]),
    ),
  );
  return { routes, gateways, sets, policies };
}

/** These always, each type once; PartiallyInvalid only beside Accepted. */
function expectFitting(conditions: readonly Condition[], always = ['Accepted', 'ResolvedRefs']): void {
  const statusOf = new Map(conditions.map(({ type, status }) => [type, status]));
  expect(statusOf.size).toBe(conditions.length);
  expect([...statusOf.keys()].slice(0, always.length)).toEqual(always);
  const partial = conditions.find(({ type }) => type === 'PartiallyInvalid');
  expect([undefined, 'True']).toContain(partial?.status);
  expect(partial === undefined || statusOf.get('Accepted') === 'True').toBe(true);
  expect(partial?.message ?? 'Dropped Rule').toMatch(/^Dropped Rule/);
}

/**
 * attachedRoutes are those that attach to a listener and say Accepted=True, whatever becomes of the listener
 * (ListenerStatus.attachedRoutes), and all of them are in the configuration. Others may be as well: they answer 500.
 */
function expectCounted(kernel: Kernel, owner: ListenerOwner, listeners: readonly ListenerStatus[]): void {
  const gateway = servingGateway(kernel.read, owner);
  for (const { name, attachedRoutes } of listeners) {
    const counted = acceptedAt(kernel, owner, name);
    expect(attachedRoutes).toBe(counted.length);
    if (gateway === undefined) continue;
    const listener = configuredListener(gateway, owner, name);
    const configured = [...kernel.emitted(configuration).values()].flatMap((resource) =>
      (resource.kind === 'route' || resource.kind === 'layer4Route') &&
      resource.attachments.some((one) => one.listener === listener)
        ? [resource.key]
        : [],
    );
    expect(configured).toEqual(expect.arrayContaining(counted.map((route) => `route/${route}`)));
  }
}

/** The routes that attach to a listener through a parentRef for which their status says Accepted=True. */
function acceptedAt(kernel: Kernel, owner: ListenerOwner, listener: string): readonly string[] {
  return [...kernel.emitted(statuses)].flatMap(([route, status]) => {
    const [kind = '', namespace = '', name = ''] = route.split('/');
    if (!('parents' in status)) return [];
    const isAccepted = (parent: ParentNode): boolean =>
      status.parents.some(
        ({ parentRef, conditions }) =>
          isDeepStrictEqual(parentRef, parent) &&
          conditions.some(({ type, status: is }) => type === 'Accepted' && is === 'True'),
      );
    const isAttached = kernel.read
      .query(attachments, kind, namespace, name)
      .some(
        ({ parent, outcome }) =>
          outcome.type === 'attached' &&
          parent.kind === owner.kind &&
          parent.namespace === owner.namespace &&
          parent.name === owner.name &&
          outcome.listeners.some((one) => one.name === listener) &&
          isAccepted(parent),
      );
    return isAttached ? [route] : [];
  });
}

describe('evaluation', () => {
  test('one by one gives what a fresh evaluation of the final state gives', () => {
    fc.assert(
      fc.property(events, (writes) => {
        const fresh = start();
        fresh.apply(finalState(writes));
        expect(outcome(applyEach(start(), writes))).toEqual(outcome(fresh));
      }),
      { numRuns: 150 },
    );
  });

  test('the deltas add up to the content', () => {
    fc.assert(
      fc.property(events, (writes) => {
        const kernel = start();
        const collected = new Map<string, unknown>();
        for (const one of writes) {
          const { upserted, removed } = kernel.apply([one]).of(configuration);
          for (const key of removed) expect(collected.delete(key)).toBe(true);
          for (const [key, value] of upserted) collected.set(key, value);
        }
        expect(sorted(collected)).toEqual(sorted(kernel.emitted(configuration)));
      }),
      { numRuns: 80 },
    );
  });

  test('the order of events about different cells does not matter', () => {
    const shuffled = events.chain((writes) => {
      const state = finalState(writes);
      return fc.tuple(fc.constant(state), fc.shuffledSubarray([...state], { minLength: state.length }));
    });
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        expect(outcome(applyEach(start(), one))).toEqual(outcome(applyEach(start(), other)));
      }),
      { numRuns: 100 },
    );
  });

  test('an overlay answers as if its writes had been applied, and leaves the base as it was', () => {
    fc.assert(
      fc.property(events, fc.array(event, { minLength: 1, maxLength: 3 }), (writes, hypothetical) => {
        const kernel = applyEach(start(), writes);
        const before = structuredClone({ outcome: outcome(kernel), answers: answers(kernel.read) });
        const applied = start();
        applied.apply(finalState([...writes, ...hypothetical]));
        expect(answers(kernel.overlay(finalState(hypothetical)).read)).toEqual(answers(applied.read));
        expect({ outcome: outcome(kernel), answers: answers(kernel.read) }).toEqual(before);
      }),
      { numRuns: 100 },
    );
  });

  test('what it says holds together: endpoints are there, conditions fit each other, routes are counted once', () => {
    fc.assert(
      fc.property(events, (writes) => {
        const kernel = applyEach(start(), writes);
        const resources = kernel.emitted(configuration);
        const routes = [...resources.values()].filter((resource) => resource.kind === 'route');
        const layer4 = [...resources.values()].filter((resource) => resource.kind === 'layer4Route');
        const targets = [
          ...routes.flatMap(({ rules }) => rules.flatMap(({ backends }) => backends)),
          ...layer4.flatMap(({ backends }) => backends),
        ].map(({ target }) => target);
        expect(targets.filter((target) => target.type === 'endpoints' && !resources.has(target.key))).toEqual([]);
        for (const [key, status] of kernel.emitted(statuses)) {
          const [kind = '', namespace = '', owner = ''] = key.split('/');
          // An XBackendTrafficPolicy refers to nothing but its targets.
          const always = kind === 'XBackendTrafficPolicy' ? ['Accepted'] : undefined;
          if ('ancestors' in status) for (const { conditions } of status.ancestors) expectFitting(conditions, always);
          if ('parents' in status) for (const { conditions } of status.parents) expectFitting(conditions);
          if ('listeners' in status && isOwnerKind(kind))
            expectCounted(kernel, { kind, namespace, name: owner }, status.listeners);
        }
      }),
      {
        numRuns: 100,
        // A route at a listener of a ListenerSet that lacks a certificate: attached and in the configuration, though nothing serves it.
        examples: [
          [
            [
              upsertOf(
                inInfra('Gateway', 'front', {
                  gatewayClassName: 'ours',
                  allowedListeners: { namespaces: { from: 'All' } },
                  listeners: [],
                }),
              ),
              upsertOf(
                inInfra('ListenerSet', 'extra', {
                  parentRef: { name: 'front' },
                  listeners: [{ name: 'tls', port: 80, protocol: 'HTTPS', tls: { certificateRefs: [] } }],
                }),
              ),
              upsertOf(
                inInfra('GRPCRoute', 'one', {
                  parentRefs: [{ kind: 'ListenerSet', name: 'extra', sectionName: 'tls' }],
                  rules: [],
                }),
              ),
            ],
          ],
        ],
      },
    );
  });

  test('leaves nothing behind when everything is gone', () => {
    fc.assert(
      fc.property(events, (writes) => {
        const kernel = applyEach(start(), writes);
        kernel.apply(finalState([...beginning, ...writes]).map((one) => write(one.input, one.args, undefined)));
        expect(kernel.statistics()).toMatchObject({ nodes: 0, cells: 0, queries: 0, contributors: 0, buckets: 0 });
      }),
      { numRuns: 50 },
    );
  });
});

const broken = damaged(kubernetesObject);

/** Every operation that may bring the damaged object in or take it out. */
function requestsFor(json: unknown, damaged: unknown): readonly AdmissionRequest[] {
  const { ref } = candidateOf(json).resource;
  const identity = { group: ref.group, version: 'v1', kind: ref.kind };
  const frame = {
    uid: 'u',
    ...identity,
    requestKind: identity,
    resource: '',
    subResource: '',
    name: ref.name,
    namespace: ref.namespace,
    dryRun: false,
    userInfo: { username: 'someone', groups: [] },
    budgetMs: 1000,
  };
  return [
    { ...frame, operation: 'CREATE', object: damaged },
    { ...frame, operation: 'CREATE', object: damaged, name: '' },
    { ...frame, operation: 'UPDATE', object: damaged, oldObject: json },
    { ...frame, operation: 'UPDATE', object: json, oldObject: damaged },
    { ...frame, operation: 'DELETE', oldObject: damaged },
  ];
}

describe('arbitrary JSON', () => {
  test('in place of anything in an object makes nothing throw, and no rule fail', () => {
    fc.assert(
      fc.property(fc.array(kubernetesObject, { maxLength: 30, size: 'max' }), broken, (world, { json, damage }) => {
        const kernel = start();
        kernel.apply(finalState(world.map(upsertOf)));
        const identified = identifyObject(damage);
        if (identified.type === 'resource') {
          const candidate = readCandidate(identified, damage, standardPolicy.bundle);
          kernel.apply([writeOf(identified.ref, candidate.resource)]);
          kernel.apply([upsertOf(damage)]);
          const found = judge(kernel.read, candidate, standardPolicy);
          expect(found.filter(({ message }) => message.includes('could not judge'))).toEqual([]);
        }
        for (const request of requestsFor(json, damage)) {
          expect(decideAdmission(request, { kernel, policy: standardPolicy, mayContinue: () => true })).toHaveProperty(
            'allowed',
          );
        }
        expect(outcome(kernel)).toBeDefined();
      }),
      { numRuns: 400 },
    );
  });

  test('alone is no object, or one of ours, and never an error', () => {
    fc.assert(
      fc.property(anyJson, (json) => {
        expect(['resource', 'unserved', 'foreign', 'invalid']).toContain(parseObject(json).type);
      }),
    );
  });
});
