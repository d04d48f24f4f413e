import { objectsOf } from '../graph/inputs.ts';
import { labelsOfNamespace } from '../graph/namespaces.ts';
import type { Ownership } from '../graph/ownership.ts';
import { strata } from '../graph/strata.ts';
import { defineEmission, type Reader } from '../incremental/index.ts';
import { identifyObject } from '../resources/parse.ts';
import type { Finding } from '../rules/engine/rule.ts';
import { findings, judgedKinds } from '../rules/engine/run.ts';
import type { Steps } from '../text/steps.ts';
import { readInSteps } from './candidate.ts';
import { judgement } from './judge.ts';
import type { JudgedFinding } from './judged-finding.ts';
import { ownershipOfObject } from './ownership.ts';
import type { AdmissionPolicy } from './policy.ts';
import { policyFor, type KnownBundle, type Settings, type WriteFacts } from './settings.ts';
import { keyOfRef } from '../resources/reference.ts';

/**
 * Returns all findings about a stored object, as in admission, in steps. None for kinds outside the Gateway API. The state may
 * change between steps.
 *
 * @param json the object, of any shape
 */
export function* storedJudgement(
  json: unknown,
  present: () => Reader,
  policy: AdmissionPolicy,
): Steps<readonly JudgedFinding[]> {
  const object = yield* readInSteps(identifyObject(json), json, policy.bundle);
  return object === undefined ? [] : yield* judgement(present, object, policy);
}

/** The attributes of a stored object that settings depend on, and the current day. */
export type StoredFacts = Pick<WriteFacts, 'kind' | 'namespace' | 'today'>;

/** Returns the policy for a stored object, or 'exempt' if it is not judged. Exempt users and groups have no effect. */
export function policyForStored(
  read: Reader,
  settings: Settings,
  facts: StoredFacts,
  bundle: KnownBundle,
): AdmissionPolicy | 'exempt' {
  const namespaceLabels = labelsOfNamespace(read, facts.namespace);
  return policyFor(settings, { ...facts, namespaceLabels, username: '', groups: [] }, bundle);
}

/** Results that the judgement of an object reads from other objects. */
interface LinkedFindings {
  readonly findings: readonly Finding[];
  readonly owners: Ownership;
}

/** Emits what other objects contribute to the judgement of each object. A change of it means that the object must be judged again. */
export const linkedFindings = defineEmission<LinkedFindings>({
  name: 'linkedFindings',
  stratum: strata.emissions,
  over: objectsOf(...judgedKinds),
  emit(read, kind = '', namespace = '', name = '') {
    return [
      {
        key: keyOfRef({ kind, namespace, name }),
        value: {
          findings: read.query(findings, kind, namespace, name),
          owners: ownershipOfObject(read, { kind, namespace, name }),
        },
      },
    ];
  },
});
