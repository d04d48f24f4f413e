import type { SchemaKind } from '../schema/index.ts';

/** A range of releases of a controller that read a kind only in one version. */
export interface ControllerRequirement {
  readonly kinds: readonly SchemaKind[];
  /** The version that they read. */
  readonly version: string;
  /** The first of these releases; absent: the lower bound is unknown. */
  readonly from?: string;
  /** The first release that no longer has the requirement. */
  readonly until?: string;
  readonly source: string;
}

/** A controller, identified by the controllerName of its GatewayClasses. */
export interface KnownController {
  readonly name: string;
  readonly controllerNames: readonly string[];
  readonly requirements: readonly ControllerRequirement[];
}

const envoyGateway = 'https://github.com/envoyproxy/gateway/pull/9232';
const nginx = 'https://github.com/nginx/nginx-gateway-fabric/issues/5944';
const istio = 'https://github.com/istio/istio/pull/60766';
const istioTls = 'https://github.com/istio/istio.io/pull/17394';
const traefik = 'https://github.com/traefik/traefik/pull/13626';
const agentgateway = 'https://github.com/agentgateway/agentgateway/pull/2432';
const agentgatewayTls = 'https://github.com/agentgateway/agentgateway/issues/1110';

/** Requirements that the projects have published. A controller that is not listed may also have requirements. */
export const knownControllers: readonly KnownController[] = [
  {
    name: 'Envoy Gateway',
    controllerNames: ['gateway.envoyproxy.io/gatewayclass-controller'],
    requirements: [
      { kinds: ['TCPRoute', 'UDPRoute'], version: 'v1alpha2', until: '1.9', source: envoyGateway },
      { kinds: ['TCPRoute', 'UDPRoute'], version: 'v1', from: '1.9', source: envoyGateway },
    ],
  },
  {
    name: 'NGINX Gateway Fabric',
    controllerNames: ['gateway.nginx.org/nginx-gateway-controller'],
    requirements: [
      { kinds: ['TCPRoute', 'UDPRoute'], version: 'v1alpha2', until: '2.7', source: nginx },
      { kinds: ['TCPRoute', 'UDPRoute'], version: 'v1', from: '2.7', source: nginx },
    ],
  },
  {
    name: 'Istio',
    controllerNames: ['istio.io/gateway-controller', 'istio.io/unmanaged-gateway', 'istio.io/mesh-controller'],
    requirements: [
      { kinds: ['TLSRoute'], version: 'v1alpha2', until: '1.30', source: istioTls },
      { kinds: ['TLSRoute', 'ReferenceGrant'], version: 'v1', from: '1.30', source: istioTls },
      { kinds: ['TCPRoute'], version: 'v1alpha2', until: '1.31', source: istio },
      { kinds: ['TCPRoute'], version: 'v1', from: '1.31', source: istio },
    ],
  },
  {
    name: 'Traefik',
    controllerNames: ['traefik.io/gateway-controller'],
    requirements: [
      { kinds: ['TCPRoute'], version: 'v1alpha2', until: '3.8', source: traefik },
      { kinds: ['TCPRoute'], version: 'v1', from: '3.8', source: traefik },
    ],
  },
  {
    name: 'agentgateway',
    controllerNames: ['agentgateway.dev/agentgateway', 'kgateway.dev/agentgateway'],
    requirements: [
      { kinds: ['TLSRoute'], version: 'v1alpha2', until: '1.0', source: agentgatewayTls },
      { kinds: ['TLSRoute'], version: 'v1', from: '1.0', source: agentgatewayTls },
      { kinds: ['TCPRoute'], version: 'v1alpha2', until: '1.4', source: agentgateway },
      { kinds: ['TCPRoute'], version: 'v1', from: '1.4', source: agentgateway },
    ],
  },
];
