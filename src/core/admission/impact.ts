import { objectsOf } from '../graph/inputs.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission, type Kernel, type Overlay, type Write } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { formatPath } from '../resources/path.ts';
import { describeRef, keyOfRef, quoteRef } from '../resources/reference.ts';
import { requestsTaken } from '../rules/matches/requests-taken.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { findings, judgedKinds } from '../rules/engine/run.ts';
import { ownershipOfObject } from './ownership.ts';
import { isDialect } from './policy.ts';
import type { Steps } from '../text/steps.ts';

/** The effects of a change on other objects. */
export interface Impact {
  /** The first few. */
  readonly broken: readonly BrokenObject[];
  /** The number of further objects that break, as far as they were checked. */
  readonly more: number;
  /** The budget ended before all objects were checked. */
  readonly incomplete: boolean;
}

/** An object, by which changes, effects and findings name it. */
export interface NamedObject {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** An object that gets findings by a change of another object. */
export interface BrokenObject extends NamedObject {
  /** The findings that it did not have before. */
  readonly findings: readonly [Finding, ...Finding[]];
}

const shown = 5;

/** Emits the number of findings of each object that has any. A kernel with this emission keeps the findings that `impactOf` compares. */
export const findingCounts = defineEmission<number>({
  name: 'findingCounts',
  stratum: strata.findings,
  over: objectsOf(...judgedKinds),
  emit(read, kind = '', namespace = '', name = '') {
    const { length } = read.query(findings, kind, namespace, name);
    return length === 0 ? [] : [{ key: keyOfRef({ kind, namespace, name }), value: length }];
  },
});

/**
 * Finds other objects that get new findings by a change, in steps. `mayContinue` is called before each step, so the caller's
 * budget limits the work regardless of the number of objects. Ends when the kernel changes between two steps.
 *
 * @param before called where anything may differ: evaluation with the old object of the request, because a cache may lag behind
 * @param after evaluation with the new object
 */
export function* impactOf(
  before: () => Steps<Reader>,
  after: Overlay,
  options: { readonly self: string; readonly mayContinue: () => boolean },
): Steps<Impact> {
  const broken: BrokenObject[] = [];
  let more = 0;
  let incomplete = false;
  const mayContinue = () => {
    incomplete ||= !options.mayContinue();
    return !incomplete;
  };
  for (const affected of after.affectedInSteps(findings, mayContinue)) {
    yield;
    // The kernel has changed in the meantime, so the remaining results would be unreliable.
    if (!after.isValid) return { broken, more, incomplete: true };
    if (affected === undefined) continue;
    const { args, after: findingsAfter } = affected;
    const [kind, namespace, name] = args;
    if (keyOfRef({ kind, namespace, name }) === options.self) continue;
    const earlier = yield* before();
    // The evaluation of the old object may have left turns to others, too.
    if (!after.isValid) return { broken, more, incomplete: true };
    const known = new Set(earlier.query(findings, kind, namespace, name).map(identity));
    const [first, ...others] = findingsAfter().filter(
      (finding) => !known.has(identity(finding)) && isTrueOf(finding, { kind, namespace, name }, after.read),
    );
    if (first === undefined) continue;
    if (broken.length < shown) broken.push({ kind, namespace, name, findings: [first, ...others] });
    else more += 1;
  }
  return { broken, more, incomplete };
}

/** Returns the reads of an overlay, after it has compared its indexes in steps. They may be out of date if the kernel has changed. */
export function* readComparing(overlay: Overlay): Steps<Reader> {
  yield* overlay.indexesInSteps(findings);
  return overlay.read;
}

/** Findings about features that Sallyport does not support do not apply to objects that other controllers serve, or may serve. */
function isTrueOf(finding: Finding, ref: NamedObject, read: Reader): boolean {
  return !isDialect(finding) || ['ours', 'mixed'].includes(ownershipOfObject(read, ref).standing);
}

function identity(finding: Finding): string {
  return `${finding.rule} ${formatPath(finding.path)}`;
}

/** Returns the overlay with some writes. It is created again if the kernel has applied writes since. */
export function overlayWith(kernel: Pick<Kernel, 'overlay'>, writes: readonly Write[]): () => Overlay {
  let overlay: Overlay | undefined;
  return () => {
    if (overlay?.isValid !== true) overlay = kernel.overlay(writes);
    return overlay;
  };
}

/** Returns the beginning of sentences about a change: `Deleting Service shop/cart`. */
export function changeOf(operation: keyof typeof beginnings, ref: NamedObject): string {
  return `${beginnings[operation]} ${describeRef(ref)}`;
}

const beginnings = { CREATE: 'Creating', UPDATE: 'This change of', DELETE: 'Deleting' } as const;

/**
 * Returns the warnings about an impact: one for each object that is listed, and one for all others.
 *
 * @param sentences a sentence for each object of `broken`
 */
export function impactWarnings(
  subject: string,
  { broken, more, incomplete }: Impact,
  sentences: readonly string[],
): readonly string[] {
  const lines = sentences.map((sentence) => `[impact] ${sentence}`);
  const rest = describeRest(more, incomplete && broken.length > 0 ? 'unknown' : 'counted');
  return rest === undefined ? lines : [...lines, `[impact] ${subject} ${rest}`];
}

/** Returns the sentence about an object that gets a finding by a change. */
export function breaksSentence(subject: string, { findings: [first], ...ref }: BrokenObject): string {
  const verb = first.rule === requestsTaken.id ? 'takes requests from' : 'breaks';
  return `${subject} ${verb} ${quoteRef(ref)}: ${formatPath(first.path)}: ${first.message}`;
}

function describeRest(more: number, remainder: 'counted' | 'unknown'): string | undefined {
  const objects = `${more} more object${more === 1 ? '' : 's'}`;
  if (remainder === 'unknown')
    return more === 0
      ? 'may break more objects: the time limit ended before all of them were checked.'
      : `breaks at least ${objects}.`;
  return more === 0 ? undefined : `breaks ${objects}.`;
}
