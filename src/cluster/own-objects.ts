import { ownObjectSelectors, type ObjectChange } from '../controller/index.ts';
import { Reflector, type ApiClient, type ResourceType, type Selection } from '../kubernetes/index.ts';
import { systemClock } from '../time/clock.ts';
import type { Logger } from '../telemetry/index.ts';

const configMaps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

/** Kinds of data plane objects. Services and ConfigMaps are missing because the evaluation reads them. */
const ofDataPlanes: readonly ResourceType[] = [
  { apiVersion: 'apps/v1', kind: 'Deployment', plural: 'deployments', namespaced: true },
  { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true },
  { apiVersion: 'v1', kind: 'ServiceAccount', plural: 'serviceaccounts', namespaced: true },
  { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', namespaced: true },
];

export interface OwnObjectsOptions {
  readonly client: ApiClient;
  readonly log: Logger;
  /** The namespace of the controller. */
  readonly namespace: string;
  readonly onEvents: (events: readonly ObjectChange[]) => void;
}

/** Objects that replicas of the controller or their data planes created, and that the evaluation does not read. */
export class OwnObjects {
  private readonly reflectors: readonly Reflector[];

  /** Starts to follow the objects. */
  constructor({ client, log, namespace, onEvents }: OwnObjectsOptions) {
    const selections: readonly Selection[] = [
      { type: configMaps, namespace, labelSelector: ownObjectSelectors.reports },
      ...ofDataPlanes.map((type) => ({ type, labelSelector: ownObjectSelectors.dataPlanes })),
    ];
    this.reflectors = selections.map(
      (selection) => new Reflector({ client, clock: systemClock, log, selection, onEvents }),
    );
  }

  /** Whether each kind was listed once or cannot be read. Nothing depends on these objects: they only explain problems. */
  get settled(): boolean {
    return this.reflectors.every(({ synced, problem }) => synced || problem !== undefined);
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors.map((reflector) => reflector.stop()));
  }
}
