import { installationCell, objectCell, type Installation } from '../graph/inputs.ts';
import { write, type Kernel } from '../incremental/index.ts';
import { backendReferenceRules } from '../rules/backends/backend-references.ts';
import { runRules } from '../rules/engine/link-findings.ts';
import { linkRules } from '../rules/engine/link-rules.ts';
import { attachmentRules } from '../rules/parents/route-attachment.ts';
import type { Rule } from '../rules/engine/rule.ts';
import { tables, type KindName } from '../schema/index.ts';
import { amongOthers } from './installation.ts';
import { judgeWith, type Candidate, type JudgedFinding } from './judge.ts';
import type { AdmissionPolicy } from './policy.ts';

/** Rules about other objects, none of which is seen here. */
const aboutOthers: ReadonlySet<string> = new Set([...attachmentRules, ...backendReferenceRules].map(({ id }) => id));

const kinds = Object.keys(tables) as KindName[];
const rulesByKind = new Map<KindName, readonly Rule[]>(
  kinds.map((kind) => [kind, linkRules.filter((rule) => rule.kinds.includes(kind) && !aboutOthers.has(rule.id))]),
);

/**
 * Judges objects each as if it were the only one there is, and remembers none of them: what may be wrong between objects is
 * not looked for.
 *
 * @param kernel an empty evaluation, for this purpose alone
 */
export function createLoneJudge(kernel: Kernel, installation: Installation, policy: AdmissionPolicy): (candidate: Candidate) => readonly JudgedFinding[] {
  kernel.apply([write(installationCell, [], amongOthers(installation))]);
  return (candidate) => {
    const { resource } = candidate;
    const { kind, namespace, name } = resource.ref;
    const { read } = kernel.overlay([write(objectCell, [kind, namespace, name], resource)]);
    return judgeWith(runRules(rulesByKind.get(resource.kind) ?? [], resource, read), read, candidate, policy);
  };
}
