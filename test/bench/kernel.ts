import { installationCell } from '../../src/core/graph/inputs.ts';
import { write, type Kernel, type Write } from '../../src/core/incremental/index.ts';
import { candidateOf, emptyEvaluation, installation, writeOf } from '../support/evaluation.ts';

// What one change costs with all rules in place, at growing numbers of routes on one Gateway, and what a route takes
// in memory. A changed route, Service or EndpointSlice must cost the same however many routes there are, and so must
// a Gateway that changes in what its routes do not depend on. Another hostname of their listener is looked at by each.

const sizes = [100, 1000, 10_000];
const routesPerService = 10;
const gatewayApi = 'gateway.networking.k8s.io/v1';

const gatewayClass = {
  apiVersion: gatewayApi,
  kind: 'GatewayClass',
  metadata: { name: 'ours', generation: 1 },
  spec: { controllerName: installation.controllerName },
};

/** All routes are on `web`. */
function gateway(web: object, spare: object): unknown {
  const listeners = [
    { name: 'web', port: 80, protocol: 'HTTP', allowedRoutes: { namespaces: { from: 'All' } }, ...web },
    { name: 'spare', port: 8080, protocol: 'HTTP', ...spare },
  ];
  return {
    apiVersion: gatewayApi,
    kind: 'Gateway',
    metadata: { name: 'front', namespace: 'infra', generation: 1 },
    spec: { gatewayClassName: 'ours', listeners },
  };
}

function service(number: number, extra: string): unknown {
  const ports = [
    { name: 'http', port: 8080 },
    { name: extra, port: 9090 },
  ];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `service-${number}`, namespace: 'shop' },
    spec: { ports },
  };
}

function slice(number: number): unknown {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    addressType: 'IPv4',
    metadata: {
      name: `slice-${number}`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': `service-${number}` },
    },
    ports: [{ name: 'http', port: 8000 }],
    endpoints: [
      { addresses: [`10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`], conditions: { ready: true } },
    ],
  };
}

function route(number: number, path: string): unknown {
  const rules = [
    {
      matches: [{ path: { type: 'Exact', value: path }, headers: [{ name: 'x-version', value: 'next' }] }],
      backendRefs: [backend(number)],
    },
    {
      matches: [{ path: { type: 'PathPrefix', value: path } }],
      timeouts: { request: '5s', backendRequest: '2s' },
      backendRefs: [backend(number)],
      filters: [{ type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-team', value: 'shop' }] } }],
    },
  ];
  return {
    apiVersion: gatewayApi,
    kind: 'HTTPRoute',
    metadata: { name: `route-${number}`, namespace: 'shop', generation: 1 },
    spec: {
      parentRefs: [{ name: 'front', namespace: 'infra', sectionName: 'web' }],
      hostnames: [`host-${number}.example.com`],
      rules,
    },
  };
}

function backend(number: number): unknown {
  return { name: `service-${Math.floor(number / routesPerService)}`, port: 8080 };
}

function upsert(json: unknown, order = ''): Write {
  const { resource } = candidateOf(json, order);
  return writeOf(resource.ref, resource);
}

/** A world with `size` routes on one listener; ten share a Service. */
function build(size: number): Kernel {
  const kernel = emptyEvaluation();
  kernel.apply([write(installationCell, [], installation), upsert(gatewayClass)]);
  const numbers = Array.from({ length: size }, (_, number) => number);
  const services = numbers
    .filter((number) => number % routesPerService === 0)
    .map((number) => number / routesPerService);
  kernel.apply([
    upsert(gateway({}, {})),
    ...services.flatMap((number) => [upsert(service(number, 'metrics')), upsert(slice(number))]),
    ...numbers.map((number) => upsert(route(number, '/'), String(number).padStart(6, '0'))),
  ]);
  return kernel;
}

/** Microseconds that one change takes: the median of many, after many to warm up. */
function costOf(kernel: Kernel, change: (turn: number) => Write, turns: number): number {
  const writes = Array.from({ length: 2 * turns }, (_, turn) => change(turn));
  const times = writes.map((one) => {
    const start = performance.now();
    kernel.apply([one]);
    return (performance.now() - start) * 1000;
  });
  const measured = times.slice(turns).sort((one, other) => one - other);
  return measured[Math.floor(measured.length / 2)] ?? Number.NaN;
}

function heapUsed(): number | undefined {
  if (globalThis.gc === undefined) return undefined;
  globalThis.gc();
  return process.memoryUsage().heapUsed;
}

interface Row {
  readonly routes: number;
  readonly costs: Readonly<Record<string, number>>;
  readonly bytesPerRoute: number | undefined;
}

function measure(size: number): Row {
  const before = heapUsed();
  const kernel = build(size);
  const after = heapUsed();
  const any = (turn: number, among: number): number => (turn * 7919) % among;
  const costs = {
    'HTTPRoute changed': costOf(kernel, (turn) => upsert(route(any(turn, size), `/v${turn}`)), 2000),
    'Service changed, not in use': costOf(
      kernel,
      (turn) => upsert(service(any(turn, size / routesPerService), `other-${turn}`)),
      2000,
    ),
    'EndpointSlice changed': costOf(
      kernel,
      (turn) => upsert(endpointsOf(any(turn, size / routesPerService), turn)),
      2000,
    ),
    'another listener of their Gateway changed': costOf(
      kernel,
      (turn) => upsert(gateway({}, { hostname: `spare-${turn}.example.com` })),
      20,
    ),
    'their listener moved to another port': costOf(kernel, (turn) => upsert(gateway({ port: 1000 + turn }, {})), 20),
    'their listener got another hostname': costOf(
      kernel,
      (turn) => upsert(gateway({ hostname: turn % 2 === 0 ? '*.example.com' : '*.com' }, {})),
      20,
    ),
    'HTTPRoute added': costOf(kernel, (turn) => upsert(route(size + turn, '/')), 500),
  };
  return {
    routes: size,
    costs,
    bytesPerRoute: before === undefined || after === undefined ? undefined : (after - before) / size,
  };
}

function endpointsOf(number: number, turn: number): unknown {
  return { ...(slice(number) as object), endpoints: [{ addresses: [`10.9.${(turn >> 8) & 255}.${turn & 255}`] }] };
}

function report(rows: readonly Row[]): void {
  const [first] = rows;
  const last = rows.at(-1);
  if (first === undefined || last === undefined) return;
  console.log(`Microseconds for one change (median), by number of routes\n`);
  console.log(
    [
      'change'.padEnd(44),
      ...rows.map(({ routes }) => String(routes).padStart(10)),
      `${last.routes} / ${first.routes}`.padStart(14),
    ].join(''),
  );
  for (const [name, smallest] of Object.entries(first.costs)) {
    const costs = rows.map((row) => row.costs[name] ?? Number.NaN);
    console.log(
      [
        name.padEnd(44),
        ...costs.map((cost) => cost.toFixed(1).padStart(10)),
        ((costs.at(-1) ?? Number.NaN) / smallest).toFixed(2).padStart(14),
      ].join(''),
    );
  }
  const memory = rows.map(({ bytesPerRoute }) =>
    (bytesPerRoute === undefined ? '?' : (bytesPerRoute / 1024).toFixed(1)).padStart(10),
  );
  console.log(['KiB of memory per route'.padEnd(44), ...memory].join(''));
}

// The first world is only there to warm up.
measure(100);
report(sizes.map(measure));
