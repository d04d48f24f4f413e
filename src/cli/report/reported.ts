import type { JudgedFinding } from '../../core/admission/judged-finding.ts';
import { formatPath, type Path } from '../../core/resources/path.ts';
import type { FileProblem, SourceDocument } from '../../files/document.ts';
import { identityOf } from './identity.ts';
import type { ReportedFinding, ReportedObject, ReportedProblem, Severity } from './report.ts';
import { checkRules } from './rules.ts';

/** A statement about a location in an object. */
export interface Statement {
  readonly rule: string;
  readonly severity: Severity;
  readonly path: Path;
  readonly message: string;
  readonly exemption?: JudgedFinding['exemption'];
}

const severityOf: Readonly<Record<JudgedFinding['effect'], Severity>> = {
  deny: 'error',
  warn: 'warning',
  record: 'note',
};

/** Converts a finding to the severities of the command line. */
export function statementOf({ rule, effect, path, message, exemption }: JudgedFinding): Statement {
  return { rule, severity: severityOf[effect], path, message, ...(exemption !== undefined && { exemption }) };
}

/** An object with its statements and their positions. */
export function reportedObject(
  document: SourceDocument,
  name: string,
  statements: readonly Statement[],
): ReportedObject {
  return {
    type: 'judged',
    file: document.file,
    name,
    document,
    findings: statements.map((statement) => findingOf(document, name, statement)).sort(byPosition),
  };
}

/** An object of another project's kind. */
export function skippedObject(document: SourceDocument, name: string): ReportedObject {
  return { type: 'skipped', file: document.file, name, document, findings: [] };
}

/** A finding for a statement about an object. */
export function findingOf(
  document: SourceDocument,
  object: string,
  { rule, severity, path, message, exemption }: Statement,
): ReportedFinding {
  const position = document.locate(path);
  return {
    rule,
    severity,
    position,
    message,
    text: document.textOf(position.line),
    field: formatPath(path),
    identity: () => identityOf({ rule, object, path, json: document.value }),
    ...(exemption !== undefined && {
      suppression: { by: 'exemption' as const, reason: `${exemption.reason} (until ${exemption.until})` },
    }),
  };
}

/** A problem of a file, in place of an object. */
export function reportedProblem({ file, severity, position, text, message }: FileProblem): ReportedProblem {
  const rule = severity === 'error' ? checkRules.file : checkRules.scalar;
  const finding = {
    rule,
    severity,
    position: position ?? { line: 1, column: 1 },
    field: '',
    message,
    ...(text === undefined ? {} : { text }),
  };
  return { type: 'problem', file, findings: [finding] };
}

/** Orders by line and column. */
export function byPosition(one: ReportedFinding, other: ReportedFinding): number {
  return one.position.line - other.position.line || one.position.column - other.position.column;
}
