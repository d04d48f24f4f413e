import { judge } from '../core/admission/judge.ts';
import type { AdmissionPolicy } from '../core/admission/policy.ts';
import { readDocument } from '../core/admission/read-document.ts';
import { createEvaluation } from '../core/evaluation.ts';
import { installationCell, objectCell } from '../core/graph/inputs.ts';
import { write } from '../core/incremental/index.ts';
import { describeRef } from '../core/resources/reference.ts';
import { backendReferenceRules } from '../core/rules/backend-references.ts';
import { attachmentRules } from '../core/rules/route-attachment.ts';
import { tables, type KindName } from '../core/schema/index.ts';
import type { SourceDocument } from '../files/document.ts';
import { judgeUnserved, remarkOf } from './remark.ts';
import { reportedRemark } from './report-findings.ts';
import { reportedObject, statementOf } from './report/reported.ts';
import type { ReportedObject } from './report/report.ts';
import { filesOnly } from './settings.ts';

/** Rules about other objects, none of which is seen here. */
const aboutOthers: ReadonlySet<string> = new Set([...attachmentRules, ...backendReferenceRules].map(({ id }) => id));

/**
 * Judges each document as if it were the only object there is, and remembers nothing: what may be wrong between objects is
 * not looked for. The result is `undefined` for what is none of our business.
 */
export function createLoneJudge(policy: AdmissionPolicy): (document: SourceDocument) => ReportedObject | undefined {
  const kernel = createEvaluation();
  kernel.apply([write(installationCell, [], { ...filesOnly(policy.bundle), unobserved: Object.keys(tables) as KindName[] })]);
  return (document) => {
    const read = readDocument(document.value, policy.bundle);
    if (read.type !== 'candidate') return reportedRemark(remarkOf(document, read), judgeUnserved(document, policy));
    const { candidate } = read;
    const { ref } = candidate.resource;
    const overlay = kernel.overlay([write(objectCell, [ref.kind, ref.namespace, ref.name], candidate.resource)]);
    const findings = judge(overlay.read, candidate, policy).filter(({ rule }) => !aboutOthers.has(rule));
    return reportedObject(document, describeRef(ref), findings.map(statementOf));
  };
}
