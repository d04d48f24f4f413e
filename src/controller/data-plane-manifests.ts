import type { DataPlaneParameters } from '../core/graph/parameters.ts';
import { scopeOf } from '../core/graph/listeners/addresses.ts';
import type { Infrastructure } from '../core/routing/infrastructure.ts';
import type { AddressRange } from '../core/text/ip-address.ts';
import { recordOf } from '../core/text/record.ts';
import { clusterServiceName, dataPlaneName, labelValue, poolClass } from './names.ts';
import type { WireObject } from './ports.ts';

/** The facts about a Gateway that determine its data plane. */
export interface GatewayFacts extends Infrastructure {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** Settings that all data planes share. */
export interface DataPlaneSettings {
  readonly image: string;
  /** `host:port` of the channel. */
  readonly controller: string;
  /** Audience of the token with which a data plane authenticates. */
  readonly audience: string;
  /** PEM: the authority with which data planes verify the controller. */
  readonly authority: string;
  /** Addresses for Services of type LoadBalancer. If empty, the cluster's load balancer assigns them. */
  readonly addressPool?: readonly AddressRange[];
}

/** Label of all provisioned objects, next to the label with the name of the Gateway. */
export const managedBy = { label: 'app.kubernetes.io/managed-by', value: 'sallyport' } as const;
export const gatewayNameLabel = 'gateway.networking.k8s.io/gateway-name';

/** The username of the ServiceAccount that data planes of a Gateway run as, in the form of TokenReview. */
export function dataPlaneUser(namespace: string, gateway: string): string {
  return `system:serviceaccount:${namespace}:${dataPlaneName(gateway)}`;
}

/**
 * The objects of a Gateway's data plane, in the order in which they depend on each other (GatewayInfrastructure, GEP-1762).
 * The Gateway owns them, so they are deleted with it. The number of replicas is not set unless a parameter names it, so
 * that an autoscaler can manage it.
 */
export function desiredObjects(gateway: GatewayFacts, settings: DataPlaneSettings): readonly WireObject[] {
  if (gateway.ports.length === 0) return [];
  const name = dataPlaneName(gateway.name);
  const metadata = metadataOf(gateway, name);
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata, automountServiceAccountToken: false },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': settings.authority } },
    ...services(gateway, settings, metadata),
    deployment(gateway, settings, metadata),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata,
      spec: {
        maxUnavailable: 1,
        unhealthyPodEvictionPolicy: 'AlwaysAllow',
        selector: { matchLabels: selectorOf(gateway) },
      },
    },
  ];
}

/**
 * Binds a Deployment to the uid of its ServiceAccount, so that its pods are replaced when the ServiceAccount is recreated. The
 * API server rejects tokens of a deleted ServiceAccount, but kubelets keep them until they expire. Other objects stay unchanged.
 */
export function boundTo(account: string | undefined, object: WireObject): WireObject {
  if (object.kind !== 'Deployment' || account === undefined) return object;
  const spec = recordOf(object['spec']);
  const template = recordOf(spec['template']);
  const metadata = recordOf(template['metadata']);
  const annotations = { ...recordOf(metadata['annotations']), 'sallyport.dev/service-account': account };
  return { ...object, spec: { ...spec, template: { ...template, metadata: { ...metadata, annotations } } } };
}

/**
 * Keeps the load balancer class of a live Service, unless a parameter names one: the field is immutable once set
 * (ServiceSpec.loadBalancerClass), and a Gateway does not choose whether there is a pool. Other objects stay unchanged.
 */
export function keepingClass(live: WireObject | undefined, object: WireObject): WireObject {
  const [present, { loadBalancerClass, ...spec }] = [recordOf(live?.['spec']), recordOf(object['spec'])];
  const isAsked = loadBalancerClass !== undefined && loadBalancerClass !== poolClass;
  if (object.kind !== 'Service' || isAsked || spec['type'] !== 'LoadBalancer' || present['type'] !== 'LoadBalancer')
    return object;
  const kept = present['loadBalancerClass'];
  return { ...object, spec: { ...spec, ...(kept !== undefined && { loadBalancerClass: kept }) } };
}

/** All objects that a Gateway may have, with identity only. An object precedes those that it depends on. */
export function allObjects(namespace: string, gateway: string): readonly WireObject[] {
  const metadata = { namespace, name: dataPlaneName(gateway) };
  return [
    { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata },
    { apiVersion: 'apps/v1', kind: 'Deployment', metadata },
    { apiVersion: 'v1', kind: 'Service', metadata },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
  ];
}

function metadataOf(gateway: GatewayFacts, name: string): WireObject['metadata'] {
  return {
    namespace: gateway.namespace,
    name,
    labels: labelsOf(gateway),
    annotations: gateway.annotations,
    ownerReferences: [
      {
        apiVersion: 'gateway.networking.k8s.io/v1',
        kind: 'Gateway',
        name: gateway.name,
        uid: gateway.uid,
        controller: true,
      },
    ],
  };
}

/** Our labels come last, because selectors depend on them. */
function labelsOf(gateway: GatewayFacts): Readonly<Record<string, string>> {
  return { ...gateway.labels, ...selectorOf(gateway) };
}

function selectorOf({ name }: GatewayFacts): Readonly<Record<string, string>> {
  return { [managedBy.label]: managedBy.value, [gatewayNameLabel]: labelValue(name) };
}

/** Entries of spec.addresses with a routability get addresses of a Service of their own, which is never of another type. */
function services(
  gateway: GatewayFacts,
  settings: DataPlaneSettings,
  metadata: WireObject['metadata'],
): readonly WireObject[] {
  const { scopes = ['Default'], name } = gateway;
  return scopes.map((scope) =>
    scope === 'Default'
      ? service(gateway, metadata, exposureOf(gateway, settings))
      : service(gateway, { ...metadata, name: clusterServiceName(name) }, clusterExposureOf(gateway)),
  );
}

function service(gateway: GatewayFacts, metadata: WireObject['metadata'], exposure: object): WireObject {
  const ports = gateway.ports.map(({ port, transport }) => ({
    name: `${transport.toLowerCase()}-${port}`,
    port,
    targetPort: port,
    protocol: transport,
  }));
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata,
    spec: { ...exposure, ports, selector: selectorOf(gateway) },
  };
}

/** One cluster IP, or one of each family for several entries. The API server rejects values outside of its ServiceCIDRs. */
function clusterExposureOf({ addresses }: GatewayFacts): object {
  const wanted = addresses.filter((address) => scopeOf(address) === 'Cluster');
  const values = wanted.flatMap(({ value }) => (value === '' ? [] : [value]));
  const [clusterIP] = values;
  return {
    type: 'ClusterIP',
    ipFamilyPolicy: wanted.length > 1 ? 'PreferDualStack' : 'SingleStack',
    ...(clusterIP !== undefined && { clusterIP }),
    ...(values.length > 1 && { clusterIPs: values.slice(0, 2) }),
  };
}

/** The fields that expose a Service. The API server rejects fields that do not fit the type (ServiceSpec). */
function exposureOf({ addresses, parameters }: GatewayFacts, { addressPool = [] }: DataPlaneSettings): object {
  const {
    serviceType: type = 'LoadBalancer',
    loadBalancerClass = addressPool.length > 0 ? poolClass : undefined,
    externalTrafficPolicy,
  } = parameters;
  if (type === 'ClusterIP') return { type };
  const external = { type, ...(externalTrafficPolicy !== undefined && { externalTrafficPolicy }) };
  if (type !== 'LoadBalancer') return external;
  // The field holds one address only. Load balancers take more through annotations.
  const wanted = addresses.find(
    (address) => scopeOf(address) === 'Default' && address.type === 'IPAddress' && address.value !== '',
  );
  return {
    ...external,
    ...(loadBalancerClass !== undefined && { loadBalancerClass }),
    ...(wanted !== undefined && { loadBalancerIP: wanted.value }),
  };
}

const paths = { token: '/var/run/secrets/sallyport', authority: '/etc/sallyport/controller' } as const;

function deployment(gateway: GatewayFacts, settings: DataPlaneSettings, metadata: WireObject['metadata']): WireObject {
  const { replicas } = gateway.parameters;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      ...(replicas !== undefined && { replicas }),
      selector: { matchLabels: selectorOf(gateway) },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels: labelsOf(gateway), annotations: gateway.annotations },
        spec: podSpec(gateway, settings, metadata.name),
      },
    },
  };
}

function podSpec(gateway: GatewayFacts, { image, controller, audience }: DataPlaneSettings, name: string): object {
  const {
    cpu = '100m',
    cpuLimit,
    workers,
    memory = requestFor(gateway.parameters),
    forwarded,
    acceptProxyProtocol,
    sendProxyProtocol,
    connectionsPerClient,
    tcpIdleTimeout,
    udpIdleTimeout,
    udpFlows,
    internalBackendNetworks,
  } = gateway.parameters;
  const memoryLimit = limitFor(gateway.parameters);
  const probePort = freePort(gateway.ports.map(({ port }) => port));
  const args = [
    'proxy',
    `--controller=${controller}`,
    `--gateway=${gateway.namespace}/${gateway.name}`,
    `--token-file=${paths.token}/token`,
    `--ca-file=${paths.authority}/ca.crt`,
    `--probe-port=${probePort}`,
    ...Object.entries({
      forwarded: forwarded,
      'accept-proxy-protocol': acceptProxyProtocol,
      'send-proxy-protocol': sendProxyProtocol,
      'connections-per-client': connectionsPerClient,
      'tcp-idle-timeout': tcpIdleTimeout,
      'udp-idle-timeout': udpIdleTimeout,
      'udp-flows': udpFlows,
      workers,
      'internal-backend-networks': internalBackendNetworks,
    }).flatMap(([option, value]) => (value === undefined ? [] : [`--${option}=${value}`])),
  ];
  return {
    serviceAccountName: name,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: 30,
    // Listeners may use any port, and the containers do not run as root.
    securityContext: {
      runAsNonRoot: true,
      runAsUser: 65_532,
      runAsGroup: 65_532,
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: [{ name: 'net.ipv4.ip_unprivileged_port_start', value: '0' }],
    },
    containers: [
      {
        name: 'proxy',
        image,
        imagePullPolicy: 'IfNotPresent',
        args,
        env: [
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'NODE_OPTIONS', value: nodeOptionsOf(gateway.parameters) },
        ],
        // Ports of listeners are left out: a new listener would roll out new pods.
        ports: [{ name: 'probes', containerPort: probePort, protocol: 'TCP' }],
        startupProbe: probe('/healthz', { periodSeconds: 1, failureThreshold: 60 }),
        // A pod is ready at once, and unready only after a long silence: a proxy on a busy node still serves. Terminating pods get no
        // traffic, whatever the probe says.
        readinessProbe: probe('/readyz', { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 5 }),
        livenessProbe: probe('/healthz', { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 }),
        // The API server rejects a request above the limit.
        resources: {
          requests: {
            cpu: cpuLimit !== undefined && cpusOf(cpu) > cpusOf(cpuLimit) ? cpuLimit : cpu,
            memory: bytesOf(memory) > bytesOf(memoryLimit) ? memoryLimit : memory,
          },
          limits: { ...(cpuLimit !== undefined && { cpu: cpuLimit }), memory: memoryLimit },
        },
        securityContext: {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        },
        volumeMounts: [
          { name: 'token', mountPath: paths.token, readOnly: true },
          { name: 'authority', mountPath: paths.authority, readOnly: true },
        ],
      },
    ],
    volumes: [
      {
        name: 'token',
        projected: { sources: [{ serviceAccountToken: { path: 'token', audience, expirationSeconds: 3_600 } }] },
      },
      { name: 'authority', configMap: { name } },
    ],
  };
}

const units: Readonly<Record<string, number>> = {
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
};

/** The default request of memory: each further worker has a heap of its own. */
function requestFor(parameters: DataPlaneParameters): string {
  return `${96 + 32 * (workersOf(parameters) - 1)}Mi`;
}

function workersOf({ workers, cpuLimit }: DataPlaneParameters): number {
  return Math.max(1, Number(workers ?? Math.floor(cpuLimit === undefined ? 1 : cpusOf(cpuLimit))));
}

function limitFor(parameters: DataPlaneParameters): string {
  const { memory = requestFor(parameters), memoryLimit } = parameters;
  const usual = usualLimitFor(parameters);
  return memoryLimit ?? (bytesOf(memory) > bytesOf(usual) ? memory : usual);
}

/** The default limit of memory. All limits of traffic together, and the largest heap, fit into it. */
function usualLimitFor(parameters: DataPlaneParameters): string {
  return `${768 + 64 * (workersOf(parameters) - 1)}Mi`;
}

/** Returns the bytes of the heap that each worker of a data plane with these parameters has. Each has the whole configuration. */
export function heapOfWorker(parameters: DataPlaneParameters): number {
  return heapOf(parameters) / workersOf(parameters);
}

/** Converts a quantity of the parameters `cpu` and `cpuLimit` to CPUs. */
function cpusOf(quantity: string): number {
  return quantity.endsWith('m') ? Number(quantity.slice(0, -1)) / 1_000 : Number(quantity);
}

/** Converts a quantity of the parameters `memory` and `memoryLimit` to bytes. */
function bytesOf(quantity: string): number {
  const { amount = '0', unit = '' } = /^(?<amount>[0-9]+)(?<unit>[A-Za-z]*)$/.exec(quantity)?.groups ?? {};
  return Number(amount) * (units[unit] ?? 1);
}

/** Returns the options of Node for the pods of a data plane with these parameters, separated by spaces. */
export function nodeOptionsOf(parameters: DataPlaneParameters): string {
  return `--max-old-space-size=${Math.floor(heapOf(parameters) / 2 ** 20)} --v8-pool-size=${helpersOf(parameters)}`;
}

/**
 * The bytes of the heap: half of the memory, and up to 384 MiB three quarters of it. The rest is for buffers, TLS and the runtime,
 * which do not need less if the limit is low.
 */
function heapOf(parameters: DataPlaneParameters): number {
  const limit = bytesOf(limitFor(parameters));
  return Math.max(limit / 2, Math.min(limit * 0.75, 384 * 2 ** 20));
}

/**
 * The threads that compile and collect garbage: as many as serve traffic, at most four, which is the default of Node. If there are more than
 * free cores, they delay the threads that serve.
 */
function helpersOf(parameters: DataPlaneParameters): number {
  return Math.min(workersOf(parameters), 4);
}

function probe(path: string, pace: object): object {
  return { httpGet: { path, port: 'probes', scheme: 'HTTP' }, ...pace };
}

/** Finds a port for the probes that no listener uses. */
function freePort(taken: readonly number[]): number {
  let port = 19_090;
  while (taken.includes(port)) port += 1;
  return port;
}
