import { create, pathOf, type ApiClient } from '../../../src/kubernetes/index.ts';
import { recordOf } from '../../../src/core/text/record.ts';
import { sendProbe } from '../../../src/webhook/configuration/probe.ts';
import { kubectlOutput } from '../../e2e/support/kubectl.ts';
import { waitFor } from '../../e2e/support/wait.ts';
import { installWebhook, restoreController, restoreWebhook, stopController, stopWebhook } from './installation.ts';
import { httpRoutes, route } from './objects.ts';
import { forEach, format, progress, row, seconds } from './output.ts';
import type { Statuses } from './statuses.ts';

/** The value of ONLY that selects this measurement. */
export const creating = 'creation';
const rounds = 2;

/** A cluster with a Gateway of the installed controller and no routes. */
interface CreationBench {
  readonly client: ApiClient;
  readonly namespace: string;
  readonly statuses: Statuses;
  readonly image: string;
  readonly routes: number;
  /** Steps that undo what was installed. */
  readonly undo: (() => Promise<unknown>)[];
}

/** What takes part in the creation of a route, besides the API server. */
interface Participants {
  readonly name: string;
  readonly prepare: (bench: CreationBench) => Promise<void>;
  readonly areAccepted: boolean;
}

const alone: Participants = {
  name: 'the API server alone',
  areAccepted: false,
  async prepare(bench) {
    await removeWebhook(bench);
    await stopController();
  },
};
const controller: Participants = {
  name: 'the controller',
  areAccepted: true,
  async prepare(bench) {
    await removeWebhook(bench);
    await restoreController();
  },
};
const both: Participants = {
  name: 'the controller and the webhook',
  areAccepted: true,
  async prepare(bench) {
    await enableWebhook(bench);
    await restoreController();
  },
};

/** Creates the same routes with and without controller and webhook, alternately, and prints the ratios of the times. */
export async function measureCreation(bench: CreationBench): Promise<void> {
  progress('Installing the webhook ...');
  await installWebhook(bench.image, bench.undo);
  stored = withoutServerFields(await kubectlOutput(['get', configuration, '-o', 'json']));
  const times = new Map<string, number[]>();
  for (let round = 1; round <= rounds; round += 1)
    for (const participants of [alone, controller, both]) {
      progress(`Preparing: ${participants.name} ...`);
      await participants.prepare(bench);
      const time = await createAll(bench, participants, round);
      times.set(participants.name, [...(times.get(participants.name) ?? []), time]);
      progress('Deleting the routes ...');
      await deleteAll(bench);
    }
  const best = (of: Participants): number => Math.min(...(times.get(of.name) ?? []));
  for (const [one, other] of [
    [controller, alone],
    [both, controller],
    [both, alone],
  ] as const)
    row(
      `Creating with ${one.name}`,
      `${(best(one) / best(other)).toFixed(2)} times`,
      `of ${other.name}; shortest times`,
    );
}

/** Creates all routes. Returns the milliseconds. */
async function createAll(
  { client, namespace, statuses, routes }: CreationBench,
  { name, areAccepted }: Participants,
  round: number,
): Promise<number> {
  const began = performance.now();
  await forEach(0, routes, (number) => create({ client, type: httpRoutes }, route(namespace, number)));
  const created = performance.now() - began;
  progress('Waiting until all are accepted ...');
  const accepted = areAccepted ? (await statuses.whenAccepted(routes, 300)) - began : undefined;
  row(
    `${format(routes)} routes created, ${name}`,
    `${seconds(created)}, ${(routes / (created / 1000)).toFixed(0)} a second`,
    `round ${round}${accepted === undefined ? '' : `; all accepted after ${seconds(accepted)}`}`,
  );
  return created;
}

async function deleteAll({ client, namespace, statuses }: CreationBench): Promise<void> {
  const path = pathOf(httpRoutes, { namespace });
  // The API server ends a request after a minute.
  await waitFor(
    'all routes are gone',
    async () => {
      await client.request({ method: 'DELETE', path, timeout: 90_000 });
      const { items } = recordOf(await client.request({ path, query: { limit: 1 } }));
      return Array.isArray(items) && items.length === 0 ? true : undefined;
    },
    300,
  );
  await statuses.whenAccepted(0);
  await statuses.whenQuiet(5_000);
}

const configuration = 'validatingwebhookconfiguration/sallyport-webhook';
/** The configuration as it was installed. */
let stored = '';

/** Without the fields that belong to one stored object. The authorities stay, so that a running webhook is trusted at once. */
function withoutServerFields(text: string): string {
  const object = recordOf(JSON.parse(text) as unknown);
  const { name, labels } = recordOf(object['metadata']);
  return JSON.stringify({ ...object, metadata: { name, labels } });
}

/** Stops the webhook, too: it would follow the routes. */
async function removeWebhook({ client }: CreationBench): Promise<void> {
  await stopWebhook();
  await kubectlOutput(['delete', configuration, '--ignore-not-found', '--timeout=60s']);
  await waitFor('the API server no longer calls the webhook', async () => {
    const { type } = await sendProbe(client);
    return type === 'ok' ? true : undefined;
  });
}

async function enableWebhook({ client }: CreationBench): Promise<void> {
  await kubectlOutput(['apply', '--server-side', '--force-conflicts', '-f', '-'], { stdin: stored });
  await restoreWebhook();
  await waitFor('the API server calls the webhook', async () => {
    const { type } = await sendProbe(client);
    return type === 'invalid' ? true : undefined;
  });
}
