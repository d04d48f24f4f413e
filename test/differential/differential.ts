/**
 * Compares what we say of random objects with what a real API server does with them, for the bundle that is installed
 * in the cluster of KUBECONFIG: node differential.ts MINOR CHANNEL COUNT SEED. Prints a line for each kind, and each
 * disagreement with the smallest object that shows it. Exit code 0: none, 1: some.
 *
 * The objects are made so that nothing but schema and rules can refuse them: their metadata is always valid, since that
 * is the API server's own business, and they have no status, which the API server drops from what is created. What an
 * object must be compared with its predecessor for (controllerName is immutable) cannot show.
 */
import { channels, minors, type Bundle } from '../../src/core/schema/availability.ts';
import { nameOf } from '../../src/core/schema/problem.ts';
import {
  create,
  createClient,
  loadCredentials,
  resourceType,
  type ApiClient,
  type KubernetesObject,
} from '../../src/kubernetes/index.ts';
import { disagreement, refusalOf } from './compare.ts';
import { examplesOf } from './examples.ts';
import { randomObject } from './objects.ts';
import { placesIn, without } from './place.ts';
import { createRandom } from './random.ts';
import { demandedRules, predict, subjectsOf, type Subject } from './subject.ts';

/** Requests that are under way at a time. */
const parallel = 32;
/** More disagreements of one kind say nothing new. */
const shownPerSubject = 3;

const [minor, channel, count = '50', seed = '1'] = process.argv.slice(2);
const bundle: Bundle = { minor: known(minors, minor), channel: known(channels, channel) };
const client = createClient(await loadCredentials('default'));
/** Rules that refused something: a rule that never does has not been compared. */
const seen = new Set<string>();
let total = 0;
for (const subject of subjectsOf(bundle)) total += await compareSubject(subject);
await client.close();
const demanded = new Set(subjectsOf(bundle).flatMap(demandedRules));
const unseen = [...demanded].filter((rule) => !seen.has(rule));
console.log(
  `${nameOf(bundle).padEnd(18)} ${seen.size} of ${demanded.size} rules refused something${unseen.length === 0 ? '' : `, not ${unseen.join(', ')}`}`,
);
process.exitCode = total === 0 ? 0 : 1;

function known<T extends string>(values: readonly T[], value: string | undefined): T {
  const found = values.find((candidate) => candidate === value);
  if (found === undefined)
    throw new Error(`${value} is none of ${values.join(', ')}; usage: differential.ts MINOR CHANNEL COUNT SEED`);
  return found;
}

interface Tally {
  taken: number;
  refused: number;
  readonly differences: string[];
}

async function compareSubject(subject: Subject): Promise<number> {
  const tally: Tally = { taken: 0, refused: 0, differences: [] };
  const objects = objectsOf(subject);
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      for (const object of objects) await compareObject(subject, object, tally);
    }),
  );
  const { taken, refused, differences } = tally;
  const name = `${subject.kind} ${subject.version}`;
  console.log(
    `${nameOf(bundle).padEnd(18)} ${name.padEnd(32)} ${String(taken).padStart(6)} taken ${String(refused).padStart(6)} refused ${String(differences.length).padStart(4)} disagreements`,
  );
  for (const difference of differences.slice(0, shownPerSubject)) console.log(difference);
  return differences.length;
}

/** Every example of a rule, and as many random objects as were asked for each kind, shared among its versions. */
function* objectsOf(subject: Subject): Generator {
  yield* examplesOf(subject);
  const versions = subjectsOf(bundle).filter(({ kind }) => kind === subject.kind).length;
  for (let number = 0; number < Number(count) / versions; number += 1)
    yield randomObject(subject, createRandom(seedOf(subject, number)));
}

/** Each object can be made again without those before it. */
function seedOf({ kind, version }: Subject, number: number): number {
  let hash = Number(seed);
  for (const character of `${kind} ${version} ${number}`)
    hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash;
}

async function compareObject(subject: Subject, object: unknown, tally: Tally): Promise<void> {
  const { difference, isTaken } = await verdict(client, subject, object);
  if (isTaken) tally.taken += 1;
  else tally.refused += 1;
  if (difference === undefined) return;
  const isNew = tally.differences.length < shownPerSubject;
  const smallest = isNew ? await shrink(subject, object) : object;
  tally.differences.push(`  ${difference}\n  ${JSON.stringify(smallest)}`);
}

async function verdict(
  api: ApiClient,
  subject: Subject,
  object: unknown,
): Promise<{ readonly difference: string | undefined; readonly isTaken: boolean }> {
  const outcome = await create(
    { client: api, type: resourceType(subject.table, subject.version) },
    object as KubernetesObject,
    { dryRun: 'All' },
  );
  const refusal = refusalOf(outcome);
  const reasons = predict(subject, object);
  if (refusal !== undefined) for (const { rule } of reasons.filter(({ from }) => from === 'rule')) seen.add(rule);
  return { difference: disagreement(reasons, refusal), isTaken: refusal === undefined };
}

/** Leaves out whatever can be left out with the disagreement still there. */
async function shrink(subject: Subject, object: unknown): Promise<unknown> {
  let smallest = object;
  for (let progress = true; progress;) {
    progress = false;
    for (const path of placesIn(smallest).filter(([first]) => first === 'spec')) {
      const smaller = without(smallest, path);
      if ((await verdict(client, subject, smaller)).difference === undefined) continue;
      smallest = smaller;
      progress = true;
      break;
    }
  }
  return smallest;
}
