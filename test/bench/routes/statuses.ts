import {
  Reflector,
  type ApiClient,
  type KubernetesObject,
  type ObjectEvent,
  type ResourceType,
} from '../../../src/kubernetes/index.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { createLogger } from '../../../src/telemetry/index.ts';
import { waitFor } from '../../e2e/support/wait.ts';
import { gateways, httpRoutes } from './objects.ts';

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly observedGeneration?: number;
}

/** The statuses of one namespace as the API server tells them. */
export class Statuses {
  /** Names of routes that are accepted as they are now. */
  private readonly names = new Set<string>();
  private readonly reflectors: readonly Reflector[];
  private lastEvent = performance.now();

  constructor(client: ApiClient, namespace: string) {
    const follow = (type: ResourceType): Reflector =>
      new Reflector({
        client,
        clock: systemClock,
        log: createLogger('silent'),
        selection: { type, namespace },
        onEvents: (events) => this.take(events),
      });
    this.reflectors = [httpRoutes, gateways].map(follow);
  }

  get accepted(): number {
    return this.names.size;
  }

  /** Waits until so many routes are accepted in their present generation. Gives the moment of the last news. */
  async whenAccepted(count: number, seconds = 120): Promise<number> {
    await waitFor(
      `${count} routes are accepted (at ${this.names.size})`,
      async () => (this.names.size === count ? true : undefined),
      seconds,
    );
    return this.lastEvent;
  }

  /** Waits until nothing was heard for so long. Gives the moment of the last news. */
  async whenQuiet(milliseconds: number): Promise<number> {
    await waitFor(
      'nothing more is written',
      async () => (performance.now() - this.lastEvent > milliseconds ? true : undefined),
      120,
    );
    return this.lastEvent;
  }

  async stop(): Promise<void> {
    await Promise.all(this.reflectors.map((reflector) => reflector.stop()));
  }

  private take(events: readonly ObjectEvent[]): void {
    this.lastEvent = performance.now();
    for (const event of events) {
      if (event.ref.kind !== 'HTTPRoute') continue;
      if (event.type === 'upsert' && isAccepted(event.object)) this.names.add(event.ref.name);
      else this.names.delete(event.ref.name);
    }
  }
}

function isAccepted({ metadata, status }: KubernetesObject): boolean {
  const { parents = [] } = (status ?? {}) as {
    readonly parents?: readonly { readonly conditions: readonly Condition[] }[];
  };
  return parents.some(({ conditions }) =>
    conditions.some(
      ({ type, status: value, observedGeneration }) =>
        type === 'Accepted' && value === 'True' && observedGeneration === metadata.generation,
    ),
  );
}
