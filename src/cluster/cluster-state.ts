import { installationCell, type Installation } from '../core/graph/inputs.ts';
import { servedRouteKinds } from '../core/graph/protocols.ts';
import { write, type Delta, type Write } from '../core/incremental/index.ts';
import {
  customGroups,
  gatewayGroups,
  optionalGroups,
  schemaTables,
  tables,
  type KindName,
  type SchemaKind,
} from '../core/schema/index.ts';
import {
  Discovery,
  type ApiClient,
  type FollowedKind,
  type InstalledKind,
  type KindState,
  type ObjectEvent,
  type OnEvents,
  type ReadingPace,
} from '../kubernetes/index.ts';
import type { Steps } from '../core/text/steps.ts';
import { monotonicNow, systemClock } from '../time/clock.ts';
import type { EvaluationQueue } from '../time/evaluation-queue.ts';
import type { Logger } from '../telemetry/index.ts';
import { bundleOfKind, bundleVersionOf } from './installed-bundle.ts';
import { incompleteBundle } from './main-bundle.ts';
import { objectWrites } from './object-writes.ts';

/** Kinds that admission reads. The ClusterRole of the webhook grants exactly these. */
export const admissionKinds: readonly KindName[] = [
  'GatewayClass',
  'Gateway',
  'ListenerSet',
  ...servedRouteKinds,
  'BackendTLSPolicy',
  'XBackendTrafficPolicy',
  'XTelemetryPolicy',
  'ReferenceGrant',
  'HostnamePolicy',
  'Service',
  'ServiceImport',
  'ClusterTrustBundle',
  'XBackend',
  'Namespace',
];

/** Kinds that the controller evaluates. Its ClusterRole grants these. */
export const controllerKinds: readonly KindName[] = [...admissionKinds, 'EndpointSlice', 'Secret', 'ConfigMap'];

/** Kinds of which only a selection of objects is followed. */
export const selections: Partial<Record<KindName, Pick<FollowedKind, 'fieldSelector'>>> = {
  Secret: { fieldSelector: 'type=kubernetes.io/tls' },
};

/** A source of objects, which follows kinds while they exist. */
export interface ObjectSource {
  /** The state of a followed kind. */
  stateOf(kind: FollowedKind): KindState;
  /** Whether all installed definitions have been read. */
  readonly settled: boolean;
  stop(): Promise<void>;
}

/** Receives objects and definitions from the source. */
export interface ObjectReader {
  readonly kinds: readonly FollowedKind[];
  readonly onEvents: OnEvents;
  /** Resolves when the definitions are in force. */
  onInstalled(installed: ReadonlyMap<string, InstalledKind>): unknown;
}

export interface ClusterStateOptions {
  /** Applies all writes, the first one included. */
  readonly evaluation: Pick<EvaluationQueue, 'apply' | 'applyRead'>;
  readonly kinds: readonly KindName[];
  readonly controllerName: string;
  /**
   * Called after each change with the events, with the resulting change of the evaluation, and with the time of arrival of the
   * events by the monotonic clock. It is undefined if there are no events.
   */
  readonly onChange?: (events: readonly ObjectEvent[], delta: Delta, arrived?: number) => void;
  /** Called with all Gateway API definitions, by name, when one is added, changed or deleted. */
  readonly onInstalled?: (installed: ReadonlyMap<string, InstalledKind>) => void;
  /** Starts a source. */
  readonly follow: (reader: ObjectReader) => ObjectSource;
}

/** Keeps the cluster's objects up to date as input of the evaluation. */
export class ClusterState {
  private readonly kinds: ReadonlyMap<string, FollowedKind>;
  private readonly controllerName: string;
  private readonly source: ObjectSource;
  private wasComplete = false;

  /** Starts immediately. */
  constructor({
    evaluation,
    kinds,
    controllerName,
    onChange = () => {},
    onInstalled = () => {},
    follow,
  }: ClusterStateOptions) {
    this.controllerName = controllerName;
    this.kinds = new Map(kinds.map((kind) => [kind, { entry: tables[kind], ...selections[kind] }]));
    void evaluation.apply([this.installationWith(new Map())], () => {});
    this.source = follow({
      kinds: [...this.kinds.values()],
      onEvents: (events) => {
        const arrived = monotonicNow();
        return evaluation.applyRead(writesOf(events), (delta) => onChange(events, delta, arrived));
      },
      onInstalled: (installed) => {
        onInstalled(ofGatewayApi(installed));
        return evaluation.apply([this.installationWith(installed)], (delta) => onChange([], delta));
      },
    });
  }

  /**
   * Why the evaluation is not complete yet. Empty once it is, and from then on: a kind that is installed later or unreachable for a
   * while causes findings that only warn.
   */
  problems(): readonly string[] {
    const problems = this.wasComplete ? [] : this.missing();
    this.wasComplete = problems.length === 0;
    return problems;
  }

  /**
   * Seconds since the last response of the API server, for the kind with the oldest one. `undefined` before each kind has one. Kinds
   * that the evaluation does without do not count.
   */
  age(): number | undefined {
    const contacts = [...this.kinds.values()]
      .map((kind) => ({ kind, state: this.source.stateOf(kind) }))
      .filter(({ kind, state }) => !isDispensable(kind, state))
      .map(({ state }) => state.lastContact);
    return contacts.some((contact) => contact === undefined)
      ? undefined
      : Math.max(...contacts.map((contact) => contact ?? 0)) / 1000;
  }

  stop(): Promise<void> {
    return this.source.stop();
  }

  private installationWith(installed: ReadonlyMap<string, InstalledKind>): Write {
    return write(
      installationCell,
      [],
      installationIn(installed, [...this.kinds.keys()] as KindName[], this.controllerName),
    );
  }

  private missing(): readonly string[] {
    const kinds = [...this.kinds].flatMap(([kind, followed]) => {
      const state = this.source.stateOf(followed);
      if (state.synced || isDispensable(followed, state)) return [];
      const { phase, problem } = state;
      const what =
        phase === 'waiting'
          ? `not known yet whether ${kind} is installed`
          : `objects of kind ${kind} are not synced yet`;
      return [problem === undefined ? what : `${what} (${problem})`];
    });
    return kinds.length > 0 || this.source.settled ? kinds : ['the installed CRDs are not synced yet'];
  }
}

/** Hardened clusters may restrict ClusterTrustBundles. References to them are invalid then, and all others work. */
function isDispensable({ entry }: FollowedKind, { synced, forbidden }: KindState): boolean {
  return !synced && forbidden === true && optionalGroups.includes(entry.group);
}

/**
 * Describes the installed kinds and bundles for the evaluation.
 *
 * @param installed the definitions of the kinds that we know by name, such as `httproutes.gateway.networking.k8s.io`
 * @param observed the kinds whose objects are read in all namespaces; objects of other kinds may exist unseen
 * @param controllerName the controllerName of our GatewayClasses
 * @param observedOnlyIn the namespaces in which objects of other kinds are read
 */
export function installationIn(
  installed: ReadonlyMap<string, InstalledKind>,
  observed: readonly KindName[],
  controllerName: string,
  observedOnlyIn: Installation['observedOnlyIn'] = {},
): Installation {
  const unobserved = (Object.keys(tables) as KindName[]).filter((kind) => !observed.includes(kind));
  const gatewayDefinitions = ofGatewayApi(installed);
  const bundleVersions = Object.fromEntries(
    [...gatewayDefinitions.values()].map((definition) => [definition.kind, bundleVersionOf(definition)]),
  );
  const notInstalled = observed.filter((kind) => isOptional(kind) && !installed.has(definitionOf(kind)));
  const hostnamePolicies = installed.has(definitionOf('HostnamePolicy'));
  return {
    controllerName,
    bundleVersions,
    incomplete: incompleteBundle([...gatewayDefinitions.values()]),
    ...bundlesOf(gatewayDefinitions),
    hostnamePolicies,
    unobserved,
    ...(Object.keys(observedOnlyIn).length > 0 && { observedOnlyIn }),
    notInstalled,
  };
}

function ofGatewayApi(installed: ReadonlyMap<string, InstalledKind>): ReadonlyMap<string, InstalledKind> {
  return new Map([...installed].filter(([, { group }]) => gatewayGroups.includes(group)));
}

/** Whether a kind belongs to an API that clusters may lack, other than the standard channel of the Gateway API. */
function isOptional(kind: KindName): boolean {
  const { group } = tables[kind];
  return optionalGroups.includes(group) || (customGroups.includes(group) && group !== tables.Gateway.group);
}

/** A source that follows a cluster. Without `pace`, it reads events as they arrive. */
export function followCluster(client: ApiClient, log: Logger, pace?: ReadingPace): ClusterStateOptions['follow'] {
  return (reader) => {
    const { kinds } = reader;
    return new Discovery({
      client,
      clock: systemClock,
      log,
      kinds,
      pace,
      onEvents: (events) => reader.onEvents(events),
      onInstalled: (installed) => reader.onInstalled(installed),
    });
  };
}

/** In steps: a page of a list has hundreds of Secrets or ConfigMaps, and one full of certificates takes milliseconds. */
function* writesOf(events: readonly ObjectEvent[]): Steps<readonly Write[]> {
  const writes: Write[] = [];
  for (const event of events) {
    writes.push(...objectWrites(event.ref, event.type === 'upsert' ? event.object : undefined));
    yield;
  }
  return writes;
}

function bundlesOf(installed: ReadonlyMap<string, InstalledKind>): Pick<Installation, 'bundles' | 'guessed'> {
  const known = (Object.keys(schemaTables) as SchemaKind[])
    .filter((kind) => gatewayGroups.includes(schemaTables[kind].group))
    .flatMap((kind) => {
      const definition = installed.get(definitionOf(kind));
      return definition === undefined ? [] : [{ kind, ...bundleOfKind(definition) }];
    });
  return {
    bundles: Object.fromEntries(known.map(({ kind, bundle }) => [kind, bundle])),
    guessed: known.filter(({ certain }) => !certain).map(({ kind }) => kind),
  };
}

function definitionOf(kind: SchemaKind): string {
  const { plural, group } = schemaTables[kind];
  return `${plural}.${group}`;
}
