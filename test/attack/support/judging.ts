import { fileURLToPath } from 'node:url';
import { decideAdmission } from '../../../src/core/admission/decide.ts';
import type { AdmissionVerdict } from '../../../src/core/admission/types.ts';
import { installationCell } from '../../../src/core/graph/inputs.ts';
import { write } from '../../../src/core/incremental/index.ts';
import { examine, type Bundle } from '../../../src/core/schema/index.ts';
import { writeReview } from '../../../src/webhook/review.ts';
import { candidateOf, emptyEvaluation, installation, ourClass, writeOf } from '../../support/evaluation.ts';
import { everyBundle, kindsIn, largestObjectsToJudge, type LargeObject } from './largest.ts';

export interface JudgedObject extends Pick<LargeObject, 'group' | 'version' | 'kind' | 'plural'> {
  readonly json: Record<string, unknown>;
}

/** Judges objects as the webhook does, in a cluster with a class of ours. */
export function judging(bundle: Bundle): (object: JudgedObject) => AdmissionVerdict {
  const kernel = emptyEvaluation();
  const { resource } = candidateOf(ourClass);
  kernel.apply([write(installationCell, [], installation), writeOf(resource.ref, resource)]);
  return ({ group, version, kind, plural, json }) =>
    decideAdmission(
      {
        uid: 'attack',
        operation: 'CREATE',
        group,
        version,
        kind,
        resource: plural,
        subResource: '',
        requestKind: { group, version, kind },
        name: 'large',
        namespace: 'shop',
        object: json,
        dryRun: false,
        userInfo: { username: 'mallory', groups: [] },
        budgetMs: 5_000,
      },
      { kernel, policy: { profile: 'standard', overrides: {}, bundle }, mayContinue: () => true },
    );
}

/** What judging one object took. */
export interface Cost {
  readonly name: string;
  /** Milliseconds of processor time: the least of some times. */
  readonly cpu: number;
  /** MiB by which the heap grew while the verdict was held. */
  readonly memory: number;
  /** Bytes of the webhook's answer. */
  readonly answer: number;
  /** Whether the bundle's schema takes the object. */
  readonly isAccepted: boolean;
}

/** Limit of an answer in bytes. */
export const answerBytes = 256 * 1024;

/** The bytes of the answer to a review with this verdict. Throws if the API server could not use it. */
export function answerTo(verdict: AdmissionVerdict): number {
  const request = { uid: 'attack', name: 'large', group: '', kind: 'HTTPRoute' } as Parameters<typeof writeReview>[0];
  const text = JSON.stringify(writeReview(request, verdict));
  const { response } = JSON.parse(text) as { readonly response: { readonly uid: string; readonly allowed: boolean } };
  if (response.uid !== 'attack' || response.allowed !== verdict.allowed) throw new Error(`not an answer: ${text}`);
  return Buffer.byteLength(text);
}

/** Objects that take less than this the first time need no closer look. */
const unsuspicious = 50;
const rounds = 5;

function costOf(object: LargeObject, judge: ReturnType<typeof judging>): Cost {
  const { kind, bundle, place } = object;
  const json = object.make();
  const judged = { ...object, json };
  let cpu = Number.POSITIVE_INFINITY;
  let memory = Number.POSITIVE_INFINITY;
  let answer = 0;
  for (let round = 0; round < rounds && (cpu > unsuspicious || memory > 2); round += 1) {
    if (round > 0) globalThis.gc?.();
    const heap = process.memoryUsage().heapUsed;
    const before = process.cpuUsage();
    const verdict = judge(judged);
    const { user, system } = process.cpuUsage(before);
    cpu = Math.min(cpu, (user + system) / 1_000);
    memory = Math.min(memory, heldAbove(heap));
    // The verdict is held until here.
    answer = answerTo(verdict);
  }
  const isAccepted = examine({ kind, apiVersion: String(json['apiVersion']), json }, bundle).problems.length === 0;
  return { name: `v${bundle.minor} ${bundle.channel} ${kind} ${place}`, cpu, memory, answer, isAccepted };
}

/** MiB by which the heap has grown; what is garbage is taken away only where there is much. */
function heldAbove(heap: number): number {
  const grown = (): number => (process.memoryUsage().heapUsed - heap) / 2 ** 20;
  if (grown() > 2) globalThis.gc?.();
  return grown();
}

/** Run as a process of its own with `--expose-gc`: prints the costs of all objects of a bundle above some
 * milliseconds, MiB, or bytes of the answer, as JSON. */
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const bundle = everyBundle[Number(process.argv[2])];
  if (bundle === undefined) throw new Error('give the position of a bundle');
  const judge = judging(bundle);
  const costs = kindsIn(bundle).flatMap((kind) =>
    largestObjectsToJudge(kind, bundle).map((object) => costOf(object, judge)),
  );
  process.stdout.write(
    JSON.stringify({
      count: costs.length,
      worst: costs.filter(({ cpu, memory, answer }) => cpu > 20 || memory > 2 || answer > answerBytes),
    }),
  );
}
