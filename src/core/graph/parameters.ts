import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { quote } from '../text/display.ts';
import { longestList, parseNetworks, parseProxyVersions } from '../text/proxy-protocol.ts';
import { nearest } from '../text/suggest.ts';
import { parameterCell, readObject } from './inputs.ts';
import { isAbsent } from './observed.ts';
import { strata } from './strata.ts';
import { qualifiedName } from '../resources/reference.ts';
import type { ViewAt } from '../schema/index.ts';

/** The parameters of a Gateway's data plane that users have set. */
export interface DataPlaneParameters {
  /** Absent: an autoscaler decides. */
  readonly replicas?: number;
  readonly serviceType?: string;
  readonly loadBalancerClass?: string;
  readonly externalTrafficPolicy?: string;
  /** The handling of the headers X-Forwarded-For and Forwarded that clients send. */
  readonly forwarded?: string;
  /** Resource requests of each pod, as Kubernetes quantities. */
  readonly cpu?: string;
  readonly memory?: string;
  /** The CPU limit of each pod. */
  readonly cpuLimit?: string;
  /** The memory limit of each pod. */
  readonly memoryLimit?: string;
  /** Load balancers that send a PROXY protocol header: networks, ranges and addresses. */
  readonly acceptProxyProtocol?: string;
  /** The PROXY protocol version for backends of TCPRoutes and TLSRoutes, for all ports or by port. */
  readonly sendProxyProtocol?: string;
  /** The maximum number of connections of each pod from one client address. */
  readonly connectionsPerClient?: string;
  /** Idle timeout of connections of TCPRoutes and TLSRoutes (GEP-2257). */
  readonly tcpIdleTimeout?: string;
  /** Idle timeout of flows of UDPRoutes (GEP-2257). */
  readonly udpIdleTimeout?: string;
  /** The maximum number of flows of UDPRoutes in each pod. */
  readonly udpFlows?: string;
  /** The number of threads of each pod that serve traffic. */
  readonly workers?: string;
  /** Internal networks in which names of XBackends may be. Only for GatewayClasses: it weakens a protection of the whole cluster. */
  readonly internalBackendNetworks?: string;
}

/** The outcome of a parametersRef. */
export type ParametersNode =
  | { readonly type: 'none' }
  /** `problems` describes the invalid entries. */
  | {
      readonly type: 'read';
      readonly target: string;
      readonly parameters: DataPlaneParameters;
      readonly problems: readonly string[];
    }
  | { readonly type: 'unsupportedKind'; readonly kind: string }
  | { readonly type: 'namespaceMissing' }
  | { readonly type: 'absent'; readonly target: string }
  /** ConfigMaps are not observed here. */
  | { readonly type: 'unobserved' };

/** The defaults of a GatewayClass (GatewayClassSpec.parametersRef). */
export const classParameters = defineQuery({
  name: 'classParameters',
  stratum: strata.links,
  compute: (read, name: string): ParametersNode =>
    parametersAt(read, readObject(read, 'GatewayClass', '', name)?.spec?.parametersRef),
});

/** The parameters of a Gateway itself (GatewayInfrastructure.parametersRef). */
export const gatewayParameters = defineQuery({
  name: 'gatewayParameters',
  stratum: strata.links,
  compute(read, namespace: string, name: string): ParametersNode {
    const ref = readObject(read, 'Gateway', namespace, name)?.spec?.infrastructure?.parametersRef;
    const node = parametersAt(read, ref && { ...ref, namespace });
    return node.type === 'read' && node.parameters.internalBackendNetworks !== undefined
      ? { ...node, parameters: {}, problems: [onlyForClasses] }
      : node;
  },
});

const onlyForClasses =
  'internalBackendNetworks is not allowed in the parameters of a Gateway: set it in the parameters of the GatewayClass';

/** Whether the parameters have no known errors. */
export function areUsable(node: ParametersNode): boolean {
  return node.type === 'none' || node.type === 'unobserved' || (node.type === 'read' && node.problems.length === 0);
}

type ParametersRef = ViewAt<'GatewayClass', 'spec.parametersRef'>;

function parametersAt(read: Reader, ref: ParametersRef | undefined): ParametersNode {
  if (ref === undefined) return { type: 'none' };
  const { group = '', kind = '', namespace = '', name = '' } = ref;
  if (group !== '' || kind !== 'ConfigMap')
    return { type: 'unsupportedKind', kind: group === '' ? kind : `${group}/${kind}` };
  if (namespace === '') return { type: 'namespaceMissing' };
  const data = read.input(parameterCell, namespace, name);
  if (data !== undefined) return { type: 'read', target: qualifiedName({ namespace, name }), ...parseParameters(data) };
  return isAbsent(read, 'ConfigMap', namespace, name)
    ? { type: 'absent', target: qualifiedName({ namespace, name }) }
    : { type: 'unobserved' };
}

/** Returns the problem with a value and the fix; `undefined` for a valid value. */
type Check = (value: string) => string | undefined;

function form(pattern: RegExp, words: string): Check {
  return (value) => (pattern.test(value) ? undefined : `must be ${words}, not ${quote(value)}`);
}

function parsed(parse: typeof parseNetworks | typeof parseProxyVersions): Check {
  return (value) => {
    const result = parse(value);
    return result.ok ? undefined : `must be a valid list, not ${quote(value)}: ${result.problem}`;
  };
}

const quantity = 'a quantity such as';
/** GEP-2257 without milliseconds, and not zero: the timeout detects clients that have disappeared. */
const duration = /^(?=[0-9hms]*[1-9])(?=[0-9])(?:[0-9]{1,3}h)?(?:[0-9]{1,5}m)?(?:[0-9]{1,5}s)?$/;
const durationWords = 'a duration in hours, minutes and seconds such as 1h30m or 90s';
const known: Readonly<Record<keyof DataPlaneParameters, Check>> = {
  replicas: form(/^[1-9][0-9]{0,2}$/, 'a number from 1 to 999'),
  serviceType: form(/^(?:LoadBalancer|NodePort|ClusterIP)$/, 'LoadBalancer, NodePort or ClusterIP'),
  loadBalancerClass: form(
    /^(?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
    'a name such as example.com/internal',
  ),
  externalTrafficPolicy: form(/^(?:Cluster|Local)$/, 'Cluster or Local'),
  forwarded: form(/^(?:append|replace)$/, 'append or replace'),
  acceptProxyProtocol: parsed(parseNetworks),
  sendProxyProtocol: parsed(parseProxyVersions),
  cpu: form(/^(?:[0-9]{1,6}m|[0-9]{1,4}(?:\.[0-9]{1,3})?)$/, `${quantity} 250m`),
  cpuLimit: form(/^(?=.*[1-9])(?:[0-9]{1,6}m|[0-9]{1,4}(?:\.[0-9]{1,3})?)$/, `${quantity} 2 or 1500m`),
  memory: form(/^[0-9]{1,12}(?:Ki|Mi|Gi|Ti|k|M|G|T)?$/, `${quantity} 128Mi`),
  memoryLimit: form(/^(?:[1-9][0-9]{2,5}Mi|[1-9][0-9]{0,2}Gi)$/, '100Mi or more in Mi or Gi, such as 512Mi'),
  connectionsPerClient: form(/^[1-9][0-9]{0,5}$/, 'a number from 1 to 999999'),
  tcpIdleTimeout: form(duration, durationWords),
  udpIdleTimeout: form(duration, durationWords),
  udpFlows: form(/^[1-9][0-9]{0,5}$/, 'a number from 1 to 999999'),
  workers: form(/^(?:[1-9]|[1-5][0-9]|6[0-4])$/, 'a number from 1 to 64'),
  internalBackendNetworks: parsed(parseNetworks),
};

const lists: ReadonlySet<string> = new Set([
  'acceptProxyProtocol',
  'sendProxyProtocol',
  'internalBackendNetworks',
] satisfies (keyof DataPlaneParameters)[]);

/** The names of all parameters. */
export const parameterNames: readonly string[] = Object.keys(known);

/** Returns the number of characters of a parameter's value that are needed to validate it. A longer value is invalid. */
export function charactersNeeded(key: string): number {
  return lists.has(key) ? longestList + 1 : 128;
}

function parseParameters(data: Readonly<Record<string, string>>): {
  readonly parameters: DataPlaneParameters;
  readonly problems: readonly string[];
} {
  const entries = Object.entries(data);
  const problems = entries.flatMap(([key, value]) => problemOf(key, value) ?? []);
  if (problems.length > 0) return { parameters: {}, problems };
  const { replicas, ...texts } = data as Readonly<Partial<Record<keyof DataPlaneParameters, string>>>;
  return { parameters: { ...texts, ...(replicas === undefined ? {} : { replicas: Number(replicas) }) }, problems };
}

function problemOf(key: string, value: string): string | undefined {
  const check = Object.hasOwn(known, key) ? known[key as keyof DataPlaneParameters] : undefined;
  if (check !== undefined) {
    const problem = check(value);
    return problem === undefined ? undefined : `${key} ${problem}`;
  }
  const near = nearest(key, parameterNames);
  return `unknown parameter ${quote(key)}, ${near === undefined ? `use one of ${parameterNames.join(', ')}` : `did you mean ${near}?`}`;
}
