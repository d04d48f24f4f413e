import { installationCell, objectCell, type Installation } from '../graph/inputs.ts';
import { write, type Kernel } from '../incremental/index.ts';
import { backendKindUnsupported } from '../rules/backends/backend-kind-unsupported.ts';
import { backendNotFound } from '../rules/backends/backend-not-found.ts';
import { backendNotPermitted } from '../rules/backends/backend-not-permitted.ts';
import { backendProtocolUnsupported } from '../rules/backends/backend-protocol-unsupported.ts';
import { runRules } from '../rules/engine/link-findings.ts';
import { linkRules } from '../rules/engine/link-rules.ts';
import { pathNotPermitted } from '../rules/matches/path-not-permitted.ts';
import { hostnameNotPermitted } from '../rules/parents/hostname-not-permitted.ts';
import { noMatchingListenerHostname } from '../rules/parents/no-matching-listener-hostname.ts';
import { noMatchingParent } from '../rules/parents/no-matching-parent.ts';
import { notAllowedByListeners } from '../rules/parents/not-allowed-by-listeners.ts';
import { parentNotFound } from '../rules/parents/parent-not-found.ts';
import { tooManyListeners } from '../rules/parents/too-many-listeners.ts';
import type { ObjectRule } from '../rules/engine/rule.ts';
import { tables, type KindName } from '../schema/index.ts';
import type { Candidate } from './candidate.ts';
import { amongOthers } from './installation.ts';
import { judgeWith } from './judge.ts';
import type { JudgedFinding } from './judged-finding.ts';
import type { AdmissionPolicy } from './policy.ts';

/** Rules about other objects, which are not available here. */
const aboutOthers: ReadonlySet<string> = new Set(
  [
    parentNotFound,
    noMatchingParent,
    notAllowedByListeners,
    noMatchingListenerHostname,
    tooManyListeners,
    hostnameNotPermitted,
    pathNotPermitted,
    backendNotFound,
    backendNotPermitted,
    backendKindUnsupported,
    backendProtocolUnsupported,
  ].map(({ id }) => id),
);

const kinds = Object.keys(tables) as KindName[];
const rulesByKind = new Map<KindName, readonly ObjectRule[]>(
  kinds.map((kind) => [kind, linkRules.filter((rule) => rule.kinds.includes(kind) && !aboutOthers.has(rule.id))]),
);

/**
 * Returns a function that judges each object as if it were the only one, and keeps none of them. Problems between objects are
 * not detected.
 *
 * @param kernel an empty kernel, for exclusive use
 */
export function createLoneJudge(
  kernel: Kernel,
  installation: Installation,
  policy: AdmissionPolicy,
): (candidate: Candidate) => readonly JudgedFinding[] {
  kernel.apply([write(installationCell, [], amongOthers(installation))]);
  return (candidate) => {
    const { resource } = candidate;
    const { kind, namespace, name } = resource.ref;
    const { read } = kernel.overlay([write(objectCell, [kind, namespace, name], resource)]);
    return judgeWith(runRules(rulesByKind.get(resource.kind) ?? [], resource, read), read, candidate, policy);
  };
}
