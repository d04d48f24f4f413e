import type { AcknowledgementReport } from '../../controller/acknowledgement-report.ts';
import { readReport } from '../../controller/acknowledgement-reporter.ts';
import { gatewayNameLabel } from '../../controller/data-plane-manifests.ts';
import { deploymentProblems, podProblems } from '../../controller/data-plane-problems.ts';
import { labelValue } from '../../controller/names.ts';
import { ownObjectSelectors } from '../../controller/own-object-selectors.ts';
import { isRecord, listOf, recordOf, recordsOf, textOf } from '../../core/text/record.ts';
import type { ApiClient, KubernetesObject, ResourceType } from '../../kubernetes/index.ts';
import { collect } from '../../sources/cluster-objects.ts';
import { qualifiedName } from '../../core/resources/reference.ts';

const pods: ResourceType = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const configMaps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };
const deployments: ResourceType = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  plural: 'deployments',
  namespaced: true,
};

const dataPlanesOfGateways = `${ownObjectSelectors.dataPlanes},${gatewayNameLabel}`;

function inNamespace(namespace: string | undefined): { readonly namespace?: string } {
  return namespace === undefined ? {} : { namespace };
}

/** A pod of the controller or of a data plane. */
export interface PodFacts {
  readonly namespace: string;
  readonly name: string;
  /** The label with the name of the Gateway; `''` for the controller. */
  readonly gatewayLabel: string;
  readonly isReady: boolean;
  /** The image of its first container in the specification. */
  readonly image: string;
  /** The arguments of its first container. */
  readonly options: readonly string[];
  /** Why the pod does not start, in sentences. */
  readonly problems: readonly string[];
}

/** The state of a data plane pod for one owner of listeners. */
export interface PodInForce {
  /** `namespace/name` */
  readonly pod: string;
  readonly isReady: boolean;
  /** The newest generation that the pod acknowledged to any replica of the controller. `undefined` if it is not connected. */
  readonly generation: number | undefined;
  /** Parts of the configuration that do not work on the pod → reason. */
  readonly problems: Readonly<Record<string, string>>;
}

/**
 * Lists the pods that a selector matches, without those that are being deleted.
 *
 * @param place `undefined` namespace: all namespaces
 * @throws ApiError, ConnectionError, ProtocolError
 */
export async function readPods(
  client: ApiClient,
  place: { readonly namespace?: string; readonly labelSelector: string },
): Promise<readonly PodFacts[]> {
  const objects = await collect(client, { type: pods, ...place });
  return objects.filter(({ metadata }) => metadata['deletionTimestamp'] === undefined).map(podFacts);
}

/** Lists the pods of data planes, in all namespaces or in one. @throws as `readPods` */
export function readDataPlanePods(client: ApiClient, namespace?: string): Promise<readonly PodFacts[]> {
  return readPods(client, { ...inNamespace(namespace), labelSelector: dataPlanesOfGateways });
}

/** Lists the problems of the Deployments of data planes, by `namespace/gateway label`, as `readDataPlanePods` does. */
export async function readDeploymentProblems(
  client: ApiClient,
  namespace?: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const place = inNamespace(namespace);
  const objects = await collect(client, { type: deployments, ...place, labelSelector: dataPlanesOfGateways });
  return new Map(
    objects.map((object) => [
      `${object.metadata.namespace ?? ''}/${textOf(recordOf(object.metadata.labels)[gatewayNameLabel])}`,
      deploymentProblems(object).map(({ message }) => message),
    ]),
  );
}

/** Reads what data planes acknowledged to each replica of the controller. @throws as `readPods` */
export async function readReports(client: ApiClient, namespace: string): Promise<readonly AcknowledgementReport[]> {
  const objects = await collect(client, { type: configMaps, namespace, labelSelector: ownObjectSelectors.reports });
  return objects.map(readReport);
}

/** Returns the pods of a Gateway. */
export function podsOfGateway(
  all: readonly PodFacts[],
  { namespace, name }: { readonly namespace: string; readonly name: string },
): readonly PodFacts[] {
  const label = labelValue(name);
  return all.filter((pod) => pod.namespace === namespace && pod.gatewayLabel === label);
}

/**
 * Returns the generation of an owner of listeners that each pod of a Gateway has in force.
 *
 * @param owner `Gateway/namespace/name` or `ListenerSet/namespace/name`
 * @param gateway `namespace/name`
 */
export function inForce(
  owner: string,
  gateway: string,
  facts: { readonly pods: readonly PodFacts[]; readonly reports: readonly AcknowledgementReport[] },
): readonly PodInForce[] {
  return facts.pods.map(({ namespace, name, isReady }) => {
    const reported = facts.reports.flatMap((report) => report.get(gateway)?.get(name) ?? []);
    const generations = reported.map((pod) => pod.generations[owner] ?? 0);
    return {
      pod: qualifiedName({ namespace, name }),
      isReady,
      generation: reported.length === 0 ? undefined : Math.max(...generations),
      problems: Object.assign({}, ...reported.map(({ problems }) => problems)) as PodInForce['problems'],
    };
  });
}

function podFacts(pod: KubernetesObject): PodFacts {
  const conditions = recordsOf(recordOf(pod['status'])['conditions']);
  const container = listOf(recordOf(pod['spec'])['containers']).find(isRecord);
  return {
    namespace: pod.metadata.namespace ?? '',
    name: pod.metadata.name,
    gatewayLabel: textOf(recordOf(pod.metadata.labels)[gatewayNameLabel]),
    isReady: conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    image: textOf(container?.['image']),
    options: listOf(container?.['args']).map(textOf),
    problems: podProblems(pod).map(({ message }) => message),
  };
}
