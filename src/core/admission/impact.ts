import { objectsOf } from '../graph/inputs.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission, type Overlay } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { formatPath } from '../resources/path.ts';
import { quoteRef, type ObjectRef } from '../resources/reference.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { findings, judgedKinds } from '../rules/engine/run.ts';
import { ownershipOfObject } from './ownership.ts';
import { isDialect } from './policy.ts';
import type { Steps } from '../text/steps.ts';

/** The effects of a change on other objects. */
export interface Impact {
  /** The first few, as `HTTPRoute shop/cart: spec.rules[0]…: message`. */
  readonly broken: readonly string[];
  /** The number of further objects that break, as far as they were checked. */
  readonly more: number;
  /** The budget ended before all objects were checked. */
  readonly incomplete: boolean;
}

const shown = 5;

/** Emits the number of findings of each object that has any. A kernel with this emission keeps the findings that `impactOf` compares. */
export const findingCounts = defineEmission<number>({
  name: 'findingCounts',
  stratum: strata.findings,
  over: objectsOf(...judgedKinds),
  emit(read, kind = '', namespace = '', name = '') {
    const { length } = read.query(findings, kind, namespace, name);
    return length === 0 ? [] : [{ key: `${kind}/${namespace}/${name}`, value: length }];
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
  const broken: string[] = [];
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
    if (args.join('/') === options.self) continue;
    const known = new Set((yield* before()).query(findings, kind, namespace, name).map(identity));
    const fresh = findingsAfter().find(
      (finding) => !known.has(identity(finding)) && isTrueOf(finding, { kind, namespace, name }, after.read),
    );
    if (fresh === undefined) continue;
    if (broken.length < shown)
      broken.push(`${quoteRef({ kind, namespace, name })}: ${formatPath(fresh.path)}: ${fresh.message}`);
    else more += 1;
  }
  return { broken, more, incomplete };
}

/** Findings about features that Sallyport does not support do not apply to objects that other controllers serve, or may serve. */
function isTrueOf(finding: Finding, ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>, read: Reader): boolean {
  return !isDialect(finding) || ['ours', 'mixed'].includes(ownershipOfObject(read, ref).standing);
}

function identity(finding: Finding): string {
  return `${finding.rule} ${formatPath(finding.path)}`;
}
