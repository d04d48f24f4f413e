import type { JudgedFinding } from '../../core/admission/judged-finding.ts';
import { describeRef, quoteRef } from '../../core/resources/reference.ts';
import { display } from '../../core/text/display.ts';
import type { FileProblem, SourceDocument } from '../../files/document.ts';
import type { Remark } from '../../workspace/remark.ts';
import type { Copy, Workspace } from '../../workspace/workspace.ts';
import type { Reported, ReportedObject, Severity } from './report.ts';
import { reportedObject, reportedProblem, skippedObject, statementOf, type Statement } from './reported.ts';
import { checkRules } from './rules.ts';

/**
 * Yields all results for some files, in the order of files and lines. Each object is judged when it is its turn.
 *
 * @param duplicates the severity of two documents that describe one object with different contents
 */
export function* reportWorkspace(
  workspace: Workspace,
  problems: readonly FileProblem[],
  duplicates: Severity,
): Generator<Reported> {
  const structure = new Map(workspace.unserved().map(({ document, findings }) => [document, findings]));
  const placed = [
    ...problems.map((problem) => ({
      file: problem.file,
      line: problem.position?.line ?? 0,
      report: () => reportedProblem(problem),
    })),
    ...workspace.objects().map((object) => ({
      file: object.document.file,
      line: object.document.line,
      report: () =>
        reportedObject(
          object.document,
          describeRef(object.candidate.resource.ref),
          workspace.judge(object).map(statementOf),
        ),
    })),
    ...workspace.copies().map((copy) => ({
      file: copy.document.file,
      line: copy.document.line,
      report: () => reportedCopy(copy, workspace, duplicates),
    })),
    ...workspace.remarks().flatMap((remark) => {
      const report = reportedRemark(remark, structure.get(remark.document) ?? []);
      return report === undefined ? [] : [{ file: report.file, line: remark.document.line, report: () => report }];
    }),
  ];
  placed.sort((one, other) => (one.file === other.file ? one.line - other.line : one.file < other.file ? -1 : 1));
  for (const { report } of placed) yield report();
}

/** Examples are often kept as one file per purpose, so equal duplicates are not a finding. Each document is judged. */
function reportedCopy(copy: Copy, workspace: Workspace, severity: Severity): ReportedObject {
  const { document, candidate, original, isSame } = copy;
  const name = describeRef(candidate.resource.ref);
  const statements = workspace.judgeCopy(copy).map(statementOf);
  return reportedObject(
    document,
    name,
    isSame
      ? statements
      : [
          {
            rule: checkRules.duplicate,
            severity,
            path: [],
            message: differentContents(quoteRef(candidate.resource.ref), original.document),
          },
          ...statements,
        ],
  );
}

function differentContents(name: string, { file, line }: SourceDocument): string {
  return `Duplicate object: ${display(file, longestFileName)}:${line} defines ${name} with different contents, and other objects are checked against those. Remove one of the two documents, or rename one object.`;
}

const longestFileName = 1024;

/** The findings of a document that is not evaluated, with those of the schema. `undefined` if it is not an object. */
export function reportedRemark(
  { document, type, name, message }: Remark,
  structure: readonly JudgedFinding[],
): ReportedObject | undefined {
  if (type === 'stray') return undefined;
  if (type === 'foreign') return skippedObject(document, name);
  const invalid: readonly Statement[] =
    type === 'invalid' ? [{ rule: checkRules.object, severity: 'error', path: [], message }] : [];
  return reportedObject(document, name, [...invalid, ...structure.map(statementOf)]);
}
