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

/** What a change does to other objects. */
export interface Impact {
  /** `HTTPRoute shop/cart: spec.rules[0]…: message`, the first few. */
  readonly broken: readonly string[];
  /** How many more objects were seen to break. */
  readonly more: number;
  /** The budget ended before everything was looked at. */
  readonly incomplete: boolean;
}

const shown = 5;

/** How many findings an object has, where it has any: a kernel that emits this keeps at hand what `impactOf` compares. */
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
 * Which other objects get findings by a change that they did not have before it, step by step: `mayContinue` is asked
 * before each, so that the caller's budget bounds the work, whatever the number of objects. It ends with the first change
 * of the kernel between two steps.
 *
 * @param before asked for where anything may differ: evaluation with the object as the API server says it was, which a cache may lag behind
 * @param after evaluation with the object as it would be
 */
export function* impactOf(before: () => Steps<Reader>, after: Overlay, options: { readonly self: string; readonly mayContinue: () => boolean }): Steps<Impact> {
  const broken: string[] = [];
  let more = 0;
  let incomplete = false;
  const mayContinue = () => {
    incomplete ||= !options.mayContinue();
    return !incomplete;
  };
  for (const affected of after.affectedInSteps(findings, mayContinue)) {
    yield;
    // What came in meanwhile makes the rest a guess.
    if (!after.isValid) return { broken, more, incomplete: true };
    if (affected === undefined) continue;
    const { args, after: findingsAfter } = affected;
    const [kind, namespace, name] = args;
    if (args.join('/') === options.self) continue;
    const known = new Set((yield* before()).query(findings, kind, namespace, name).map(identity));
    const fresh = findingsAfter().find((finding) => !known.has(identity(finding)) && isTrueOf(finding, { kind, namespace, name }, after.read));
    if (fresh === undefined) continue;
    if (broken.length < shown) broken.push(`${quoteRef({ kind, namespace, name })}: ${formatPath(fresh.path)}: ${fresh.message}`);
    else more += 1;
  }
  return { broken, more, incomplete };
}

/** What Sallyport does not serve is no matter of objects that others serve, or may serve. */
function isTrueOf(finding: Finding, ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>, read: Reader): boolean {
  return !isDialect(finding) || ['ours', 'mixed'].includes(ownershipOfObject(read, ref).standing);
}

function identity(finding: Finding): string {
  return `${finding.rule} ${formatPath(finding.path)}`;
}
