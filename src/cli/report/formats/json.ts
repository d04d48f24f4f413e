import { identifyObject } from '../../../core/resources/parse.ts';
import { judgedGroups } from '../../../core/schema/index.ts';
import { jsonText } from '../json-text.ts';
import {
  activeFindings,
  counted,
  nothing,
  type Report,
  type ReportedFinding,
  type ReportedObject,
  type ReportedProblem,
  type ReportSetting,
  type Severity,
} from '../report.ts';
import { memberOf, textOf } from '../../../core/text/record.ts';
import { groupOf } from '../../../core/text/api-version.ts';

/** Maximum number of file problems buffered until all objects are written. Further ones are only counted. */
export const maxProblems = 4_096;

/**
 * For programs: one line per object with its verdict and findings, including suppressed ones, then the problems of files and a summary.
 * docs/guides/check.md describes the fields.
 */
export async function* writeJson(
  report: Report,
  { version, comparison, exemptions }: ReportSetting,
): AsyncGenerator<string> {
  let tally = nothing;
  let problemsLeftOut = 0;
  const verdicts = { allowed: 0, denied: 0, skipped: 0 };
  const problems: string[] = [];
  let separator = '';
  yield `{"tool":"sallyport","version":${jsonText(version)},"objects":[`;
  for await (const reported of report) {
    tally = counted(tally, reported);
    if (reported.type === 'problem') {
      if (problems.length < maxProblems) problems.push(problemLine(reported));
      else problemsLeftOut++;
      continue;
    }
    const entry = entryOf(reported);
    verdicts[entry.verdict]++;
    yield `${separator}\n${jsonText(entry)}`;
    separator = ',';
  }
  yield `\n],"problems":[${problems.join(',')}`;
  const { bySeverity, suppressed } = tally;
  yield `\n],"summary":${jsonText({ ...verdicts, ...bySeverity, suppressed, problemsLeftOut })}${optional('comparison', comparison)}${optional('exemptions', exemptions)}}\n`;
}

function optional(name: string, value: (() => unknown) | undefined): string {
  return value === undefined ? '' : `,"${name}":${jsonText(value())}`;
}

function entryOf(object: ReportedObject) {
  const {
    file,
    document: { line, value },
    findings,
  } = object;
  const head = headOf(value);
  return { file, line, ...head, verdict: verdictOf(object, head.apiVersion), findings: findings.map(entryOfFinding) };
}

/** The identity of an object. '' for missing fields. */
function headOf(json: unknown) {
  const identified = identifyObject(json);
  if (identified.type !== 'invalid') {
    const {
      apiVersion,
      ref: { kind, namespace, name },
    } = identified;
    return { apiVersion, kind, namespace, name };
  }
  const metadata = memberOf(json, 'metadata');
  return {
    apiVersion: textOf(memberOf(json, 'apiVersion')),
    kind: textOf(memberOf(json, 'kind')),
    namespace: textOf(memberOf(metadata, 'namespace')),
    name: textOf(memberOf(metadata, 'name')),
  };
}

function verdictOf(object: ReportedObject, apiVersion: string): 'allowed' | 'denied' | 'skipped' {
  if (activeFindings(object).some(({ severity }) => severity === 'error')) return 'denied';
  // Services and other referenced objects are read but not judged.
  return object.type === 'judged' && judgedGroups.includes(groupOf(apiVersion)) ? 'allowed' : 'skipped';
}

const effects = { error: 'deny', warning: 'warn', note: 'record' } as const satisfies Record<Severity, string>;

function entryOfFinding({
  rule,
  severity,
  field,
  message,
  position: { line, column },
  identity,
  suppression,
}: ReportedFinding) {
  return { rule, effect: effects[severity], path: field, message, line, column, identity: identity?.(), suppression };
}

function problemLine({ file, findings }: ReportedProblem): string {
  return findings
    .map(
      ({ position: { line, column }, rule, severity, message }) =>
        `\n${jsonText({ file, line, column, rule, severity, message })}`,
    )
    .join(',');
}
