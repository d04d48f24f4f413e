import { ofQualifiedName } from '../../core/resources/reference.ts';
import type { ListenerConfig } from '../../core/routing/config.ts';
import type { Layer4Outcome } from '../../core/routing/decision/layer4-outcome.ts';
import type { Outcome } from '../../core/routing/decision/outcome.ts';
import { recordOf, recordsOf } from '../../core/text/record.ts';
import type { SourceDocument } from '../../files/document.ts';
import { createClient, loadCredentials, type CredentialSource } from '../../kubernetes/index.ts';
import { controllerName } from '../names.ts';
import { inForce, podsOfGateway, readDataPlanePods, readReports, type PodFacts } from './data-planes.ts';
import type { AcknowledgementReport } from '../../controller/acknowledgement-report.ts';

/** What a cluster tells about its data planes. */
export interface LiveDataPlanes {
  readonly pods: readonly PodFacts[];
  readonly reports: readonly AcknowledgementReport[];
}

/** Where the answer of a Gateway comes from. */
export interface Answered {
  /** `namespace/name` */
  readonly gateway: string;
  readonly listener: Pick<ListenerConfig, 'owner' | 'generation'> | undefined;
  readonly route: AnsweringRoute | undefined;
}

export interface AnsweringRoute {
  readonly kind: string;
  /** `namespace/name` */
  readonly route: string;
  readonly generation: number;
}

/** Whether the data planes of a Gateway answer as the objects say. */
export interface InForce {
  /** The generation of the owner of the listener. */
  readonly generation: number;
  /** Ready pods, and the generation that each has acknowledged; absent if it is not connected to the controller. */
  readonly pods: readonly { readonly pod: string; readonly generation?: number }[];
  /** Whether all ready pods have acknowledged the generation, and the controller has reconciled the route. */
  readonly isInForce: boolean;
  /** For people. */
  readonly lines: readonly string[];
}

/**
 * Reads the pods of data planes and their acknowledgements.
 *
 * @param namespace the namespace of the controller
 * @returns the message of an API server that does not tell
 */
export async function readLiveDataPlanes(
  source: CredentialSource,
  namespace: string,
): Promise<LiveDataPlanes | string> {
  const client = createClient(await loadCredentials(source));
  try {
    const [pods, reports] = await Promise.all([readDataPlanePods(client), readReports(client, namespace)]);
    return { pods, reports };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    await client.close();
  }
}

/** Compares the generations of an answer with those that data planes have acknowledged. `undefined` without a listener. */
export function inForceOf(
  { gateway, listener, route }: Answered,
  live: LiveDataPlanes,
  documents: readonly SourceDocument[],
): InForce | undefined {
  if (listener === undefined) return undefined;
  const { namespace, name } = ofQualifiedName(gateway);
  const pods = podsOfGateway(live.pods, { namespace, name });
  const states = inForce(listener.owner, gateway, { ...live, pods }).filter(({ isReady }) => isReady);
  const current = states.filter(({ generation = -1 }) => generation >= listener.generation);
  const owner = `generation ${listener.generation} of ${listener.owner.replace('/', ' ')}`;
  const unreconciled = route === undefined ? [] : unreconciledLines(route, documents);
  const behind = states
    .filter((state) => !current.includes(state))
    .map(({ pod, generation }) =>
      generation === undefined
        ? `not in force: pod ${pod} is not connected to the controller`
        : `not in force: pod ${pod} serves generation ${generation}`,
    );
  return {
    generation: listener.generation,
    pods: states.map(({ pod, generation }) => ({ pod, ...(generation !== undefined && { generation }) })),
    isInForce: states.length > 0 && behind.length + unreconciled.length === 0,
    lines: [
      states.length === 0
        ? 'not in force: no data plane pod is ready'
        : `${current.length} of ${states.length} ready pods serve ${owner}`,
      ...behind,
      ...unreconciled,
    ],
  };
}

/** The route that answers a request. */
export function routeOf({ decision }: Pick<Outcome, 'decision'>): AnsweringRoute | undefined {
  if (!('taken' in decision)) return undefined;
  const { route, protocol, generation } = decision.taken.matched.route;
  return { kind: protocol === 'grpc' ? 'GRPCRoute' : 'HTTPRoute', route, generation };
}

/** The route that gets a connection. */
export function layer4RouteOf({ decision }: Pick<Layer4Outcome, 'decision'>): AnsweringRoute | undefined {
  if (!('route' in decision)) return undefined;
  const { routeKind: kind, route, generation } = decision.route;
  return { kind, route, generation };
}

/** The controller writes the status of a route after it has sent the route to data planes. */
function unreconciledLines(
  { kind, route, generation }: AnsweringRoute,
  documents: readonly SourceDocument[],
): readonly string[] {
  const object = documents
    .map(({ value }) => recordOf(value))
    .find(({ kind: candidate, metadata }) => {
      const { namespace, name } = recordOf(metadata);
      return candidate === kind && `${String(namespace)}/${String(name)}` === route;
    });
  const observed = recordsOf(recordOf(object?.['status'])['parents'])
    .filter((parent) => parent['controllerName'] === controllerName)
    .flatMap(({ conditions }) => recordsOf(conditions))
    .map(({ observedGeneration }) => (typeof observedGeneration === 'number' ? observedGeneration : 0));
  if (observed.length > 0 && Math.min(...observed) >= generation) return [];
  return [`not in force: the controller has not reconciled generation ${generation} of ${kind} ${route}`];
}
