import { createLoneJudge } from '../../core/admission/judge-alone.ts';
import type { AdmissionPolicy } from '../../core/admission/policy.ts';
import { readDocument } from '../../core/admission/candidate.ts';
import { createEvaluation } from '../../core/evaluation.ts';
import { describeRef } from '../../core/resources/reference.ts';
import type { SourceDocument } from '../../files/document.ts';
import { judgeUnserved, remarkOf } from '../../workspace/remark.ts';
import { filesOnly } from '../settings.ts';
import { reportedRemark } from './findings.ts';
import type { ReportedObject } from './report.ts';
import { reportedObject, statementOf } from './reported.ts';

/** Judges each document as if it were the only one. `undefined` for documents that are not objects. */
export function createLoneReporter(policy: AdmissionPolicy): (document: SourceDocument) => ReportedObject | undefined {
  const kernel = createEvaluation([]);
  const judge = createLoneJudge(kernel, filesOnly(policy.bundle), policy);
  return (document) => {
    const read = readDocument(document.value, policy.bundle);
    if (read.type !== 'candidate')
      return reportedRemark(remarkOf(document, read), judgeUnserved(kernel.read, document, policy));
    return reportedObject(document, describeRef(read.candidate.resource.ref), judge(read.candidate).map(statementOf));
  };
}
