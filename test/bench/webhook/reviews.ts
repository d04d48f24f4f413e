import { classOf, gatewayOf, routeOf, sharedGateway, stored, type ApiObject, type Variation } from './objects.ts';

/** AdmissionReviews of one kind, size and operation, as text. */
export interface Shape {
  readonly name: string;
  readonly bodies: readonly string[];
  /** How many of them must be denied. */
  readonly denied: number;
}

/** Different objects, so that nothing can be answered from the memory of the last one. */
const objects = 25;

interface Template {
  readonly name: string;
  readonly prefix: string;
  readonly make: (variation: Variation) => ApiObject;
}

const templates: readonly Template[] = [
  { name: 'HTTPRoute, 2 rules', prefix: 'small', make: (variation) => routeOf(2, variation) },
  { name: 'HTTPRoute, 16 rules', prefix: 'large', make: (variation) => routeOf(16, variation) },
  { name: 'Gateway, 4 listeners', prefix: 'edge', make: gatewayOf },
  { name: 'GatewayClass', prefix: 'class', make: classOf },
];

/** What is created and updated of the kinds that the official server knows; every other object has a problem. */
export function mixedShapes(): readonly Shape[] {
  return templates.flatMap(({ name, prefix, make }) => [
    shape(`${name}: CREATE`, (fault, number) =>
      review(make({ name: `new-${prefix}-${number}`, fault, version: 'after' })),
    ),
    shape(`${name}: UPDATE`, (fault, number) =>
      review(
        make({ name: `${prefix}-${number}`, fault, version: 'after' }),
        make({ name: `${prefix}-${number}`, fault: 'none', version: 'before' }),
      ),
    ),
  ]);
}

/** The objects that are updated, as they were: a cluster that is watched holds them. */
export function updatedObjects(): readonly ApiObject[] {
  return templates.flatMap(({ prefix, make }) =>
    Array.from({ length: objects }, (_, number) =>
      make({ name: `${prefix}-${number}`, fault: 'none', version: 'before' }),
    ),
  );
}

/** A change of the Gateway that all routes are on, by a listener that none of them uses. */
export function sharedGatewayShape(): Shape {
  return {
    name: 'Gateway of all routes: UPDATE',
    denied: 0,
    bodies: [review(sharedGateway(8081), sharedGateway(8080))],
  };
}

function shape(name: string, make: (fault: Variation['fault'], number: number) => string): Shape {
  const bodies = Array.from({ length: objects }, (_, number) =>
    (['none', 'one'] as const).map((fault) => make(fault, number)),
  ).flat();
  return { name, bodies, denied: objects };
}

/** As the API server sends it. */
function review(object: ApiObject, oldObject?: ApiObject): string {
  const {
    kind,
    metadata: { name, namespace },
  } = object;
  const type = { group: 'gateway.networking.k8s.io', version: 'v1' };
  const resource = { ...type, resource: kind === 'GatewayClass' ? 'gatewayclasses' : `${kind.toLowerCase()}s` };
  const request = {
    uid: '00000000-0000-4000-8000-000000000001',
    kind: { ...type, kind },
    resource,
    requestKind: { ...type, kind },
    requestResource: resource,
    name,
    ...(namespace === undefined ? {} : { namespace }),
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    userInfo: { username: 'kubernetes-admin', groups: ['kubeadm:cluster-admins', 'system:authenticated'] },
    object: stored(object),
    oldObject: oldObject === undefined ? null : stored(oldObject),
    dryRun: false,
    options: {
      kind: oldObject === undefined ? 'CreateOptions' : 'UpdateOptions',
      apiVersion: 'meta.k8s.io/v1',
      fieldManager: 'kubectl-client-side-apply',
    },
  };
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
}
