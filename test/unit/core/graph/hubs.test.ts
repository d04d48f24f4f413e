import { describe, expect, test } from '@jest/globals';
import { attachments } from '../../../../src/core/graph/attachment.ts';
import { certificateCell } from '../../../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../../../src/core/incremental/index.ts';
import { backendTlsPolicy } from '../../../support/backend-tls.ts';
import {
  candidateOf,
  evaluate,
  grantIn,
  listenerSet,
  ourClass,
  serviceWith,
  writeOf,
} from '../../../support/evaluation.ts';
import { gatewayWith, httpRoute } from '../../../support/rules.ts';

// What a change of an object costs that many routes depend on, counted in functions that ran and results that were
// marked. Gateway `shop/front` has a listener `web`, which routes attach to by name, and a listener `spare`.

const web = {
  name: 'web',
  port: 443,
  protocol: 'HTTPS',
  hostname: '*.example.com',
  tls: { certificateRefs: [{ name: 'old', namespace: 'vault' }] },
};
const spare = { name: 'spare', port: 8080, protocol: 'HTTP' };
const gateway = gatewayWith(web, spare) as { readonly metadata: object; readonly spec: object };
const grant = grantIn(
  'vault',
  { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'shop' },
  { group: '', kind: 'Secret' },
) as object;

function route(number: number): unknown {
  const rules = [{ backendRefs: [{ name: 'cart', port: 8080 }] }];
  const json = httpRoute({
    parentRefs: [{ name: 'front', sectionName: 'web' }],
    hostnames: [`${number}.example.com`],
    rules,
  }) as { readonly metadata: object };
  return { ...json, metadata: { ...json.metadata, name: `cart-${number}` } };
}

function upsert(json: unknown): Write {
  const { resource } = candidateOf(json);
  return writeOf(resource.ref, resource);
}

function worldWith(routes: number): Kernel {
  const objects = [
    ourClass,
    gateway,
    grant,
    serviceWith({ ports: [{ port: 8080 }] }),
    ...Array.from({ length: routes }, (_, number) => route(number)),
  ];
  return evaluate(objects).kernel;
}

interface Cost {
  readonly recomputations: number;
  readonly marks: number;
}

function costOf(change: readonly Write[], routes: number): Cost {
  const kernel = worldWith(routes);
  const before = kernel.statistics();
  kernel.apply(change);
  const { recomputations, marks } = kernel.statistics();
  return { recomputations: recomputations - before.recomputations, marks: marks - before.marks };
}

const changes: readonly (readonly [what: string, change: readonly Write[]])[] = [
  ['a listener that they do not attach to', [upsert(gatewayWith(web, { ...spare, hostname: 'spare.example.com' }))]],
  ['a further listener', [upsert(gatewayWith(web, spare, { name: 'third', port: 8081, protocol: 'HTTP' }))]],
  ['the port of their listener', [upsert(gatewayWith({ ...web, port: 8443 }, spare))]],
  [
    'the certificateRefs of their listener',
    [upsert(gatewayWith({ ...web, tls: { certificateRefs: [{ name: 'new', namespace: 'vault' }] } }, spare))],
  ],
  [
    'the certificate of their listener',
    [write(certificateCell, ['vault', 'old'], { type: 'unusable', problem: 'it holds no key' })],
  ],
  [
    'the grant for that certificate',
    [
      upsert(
        grantIn(
          'vault',
          { group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'infra' },
          { group: '', kind: 'Secret' },
        ),
      ),
    ],
  ],
  ['a grant that says the same', [upsert({ ...grant, metadata: { name: 'again', namespace: 'vault' } })]],
  [
    'a ListenerSet',
    [upsert(listenerSet({ parentRef: { name: 'front' }, listeners: [{ name: 'web', port: 443, protocol: 'HTTPS' }] }))],
  ],
  [
    'whom the Gateway lets in',
    [upsert({ ...gateway, spec: { ...gateway.spec, allowedListeners: { namespaces: { from: 'Same' } } } })],
  ],
  ['a BackendTLSPolicy for their Service', [upsert(backendTlsPolicy('secure'))]],
  ['labels of the Gateway', [upsert({ ...gateway, metadata: { ...gateway.metadata, labels: { team: 'shop' } } })]],
  ['the generation of the Gateway', [upsert({ ...gateway, metadata: { ...gateway.metadata, generation: 9 } })]],
  [
    'labels of the GatewayClass',
    [upsert({ ...ourClass, metadata: { ...ourClass.metadata, labels: { team: 'platform' } } })],
  ],
];

describe('a change that no route depends on costs the same with any number of routes:', () => {
  test.each(changes)('%s', (_, change) => {
    const few = costOf(change, 2);
    expect(few.recomputations).toBeGreaterThan(0);
    expect(costOf(change, 40)).toEqual(few);
  });
});

describe('a change of the listener that routes attach to', () => {
  test('that changes nothing for them ends at their attachments', () => {
    const change = [upsert(gatewayWith({ ...web, hostname: '*.com' }, spare))];
    const [few, many] = [costOf(change, 2), costOf(change, 40)];
    expect(many.recomputations - few.recomputations).toBe(38);
    expect(many.marks).toBe(few.marks);
  });

  test('that changes something for them reaches them all', () => {
    const kernel = worldWith(3);
    kernel.apply([upsert(gatewayWith({ ...web, hostname: '1.example.com' }, spare))]);
    const types = [0, 1, 2].map(
      (number) => kernel.read.query(attachments, 'HTTPRoute', 'shop', `cart-${number}`)[0]?.outcome.type,
    );
    expect(types).toEqual(['noHostname', 'attached', 'noHostname']);
  });
});

test('what a grant costs does not depend on the other grants and on who needs them', () => {
  const allow = (number: number): object => ({
    ...(grantIn(
      'vault',
      { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute', namespace: 'shop' },
      { group: '', kind: 'Service', name: `cart-${number}` },
    ) as object),
    metadata: { name: `allow-${number}`, namespace: 'vault' },
  });
  const needy = (number: number): object => {
    const json = httpRoute({
      parentRefs: [{ name: 'front' }],
      rules: [{ backendRefs: [{ name: `cart-${number}`, namespace: 'vault', port: 8080 }] }],
    }) as { readonly metadata: object };
    return { ...json, metadata: { ...json.metadata, name: `needy-${number}` } };
  };
  const cost = (others: number): Cost => {
    const numbers = Array.from({ length: others }, (_, number) => number);
    const { kernel } = evaluate([ourClass, gateway, ...numbers.flatMap((number) => [allow(number), needy(number)])]);
    const before = kernel.statistics();
    kernel.apply([upsert(allow(99))]);
    const { recomputations, marks } = kernel.statistics();
    return { recomputations: recomputations - before.recomputations, marks: marks - before.marks };
  };
  expect(cost(40)).toEqual(cost(2));
});

test('what a BackendTLSPolicy for a port costs does not depend on the policies for other ports of the Service', () => {
  const secure = (number: number): unknown =>
    backendTlsPolicy(`secure-${number}`, {
      targetRefs: [{ group: '', kind: 'Service', name: 'cart', sectionName: `p${number}` }],
    });
  const cost = (others: number): Cost => {
    const numbers = Array.from({ length: others }, (_, number) => number);
    const ports = [...numbers, 99].map((port) => ({ name: `p${port}`, port: port + 1, appProtocol: 'https' }));
    const rules = numbers.map((number) => ({ backendRefs: [{ name: 'cart', port: number + 1 }] }));
    const routes = httpRoute({ parentRefs: [{ name: 'front' }], rules });
    const { kernel } = evaluate([ourClass, gateway, serviceWith({ ports }), routes, ...numbers.map(secure)]);
    const before = kernel.statistics();
    kernel.apply([upsert(secure(99))]);
    const { recomputations, marks } = kernel.statistics();
    return { recomputations: recomputations - before.recomputations, marks: marks - before.marks };
  };
  expect(cost(16)).toEqual(cost(2));
});

test('a Service that changes except for the names of its ports does not reach the policies for its ports', () => {
  const ports = (targetPort: number) => serviceWith({ ports: [{ name: 'web', port: 8080, targetPort }] });
  const secure = backendTlsPolicy('secure', {
    targetRefs: [{ group: '', kind: 'Service', name: 'cart', sectionName: 'other' }],
  });
  const cost = (objects: readonly unknown[]): number => {
    const { kernel } = evaluate([ourClass, gateway, ports(1), secure, ...objects]);
    const before = kernel.statistics().recomputations;
    kernel.apply([upsert(ports(2))]);
    return kernel.statistics().recomputations - before;
  };
  const again = { ...(secure as { readonly metadata: object }), metadata: { name: 'again', namespace: 'shop' } };
  expect(cost([again])).toBe(cost([]));
});
