import {
  createClient,
  Reflector,
  type ReadingPace,
  type ApiClient,
  type KubernetesObject,
  type ObjectEvent,
  type OnEvents,
  type ResourceType,
  type Selection,
} from '../../src/kubernetes/index.ts';
import { createLogger, type Logger } from '../../src/telemetry/index.ts';
import { credentialsFor } from './credentials.ts';
import type { StoredObject } from './api-server/object.ts';
import { findResource } from './api-server/resources.ts';
import { startFakeApiServer, type FakeApiServer, type FakeOptions } from './fake-api-server.ts';
import { ManualClock } from './manual-clock.ts';

export const configMaps: ResourceType = { apiVersion: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true };

/** A fake API server, a client of it, and a clock that stands still. */
export interface KubernetesStage {
  readonly server: FakeApiServer;
  readonly client: ApiClient;
  readonly clock: ManualClock;
  readonly log: Logger;
  readonly logged: string[];
  close(): Promise<void>;
}

export async function kubernetesStage(options: FakeOptions = {}): Promise<KubernetesStage> {
  const server = await startFakeApiServer(options);
  const clock = new ManualClock();
  const client = createClient(credentialsFor(server.url), clock);
  const logged: string[] = [];
  return {
    server,
    client,
    clock,
    logged,
    log: createLogger('debug', { write: (line) => logged.push(line) }),
    async close() {
      await client.close();
      await server.close();
    },
  };
}

/** Puts an object into the store, past the API. */
export function seed(
  { server: { store } }: KubernetesStage,
  { apiVersion, plural }: ResourceType,
  object: KubernetesObject,
): StoredObject {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  const resource = findResource(store, { group, version, plural });
  if (resource === undefined) throw new Error(`${plural} of ${apiVersion} are not served`);
  return store.insert(resource, { apiVersion, ...object });
}

/** What a reader of events knows: every event in short, and the objects. */
export interface Followed {
  readonly reflector: Reflector;
  readonly steps: string[];
  readonly objects: Map<string, KubernetesObject>;
}

/** Follows ConfigMaps, or what `selection` says. `before` sees events before they are noted, and may throw. */
export function follow(
  stage: KubernetesStage,
  {
    selection = {},
    before = () => {},
    pace,
  }: { selection?: Partial<Selection>; before?: OnEvents; pace?: ReadingPace } = {},
): Followed {
  const steps: string[] = [];
  const objects = new Map<string, KubernetesObject>();
  const onEvents = async (events: readonly ObjectEvent[]) => {
    await before(events);
    for (const event of events) {
      steps.push(`${event.type} ${event.ref.name}`);
      if (event.type === 'upsert') objects.set(event.ref.name, event.object);
      else objects.delete(event.ref.name);
    }
  };
  return {
    reflector: new Reflector({ ...stage, selection: { type: configMaps, ...selection }, onEvents, pace }),
    steps,
    objects,
  };
}
