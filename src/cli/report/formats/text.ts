import { printable } from '../../../core/text/display.ts';
import { describeComparison } from '../comparison.ts';
import { describeExemption } from '../exemptions.ts';
import { excerpt } from '../excerpt.ts';
import {
  activeFindings,
  counted,
  describeTally,
  nothing,
  type Report,
  type ReportedFinding,
  type ReportSetting,
  type Severity,
} from '../report.ts';

const colours = { error: 'red', warning: 'yellow', note: 'cyan' } as const satisfies Record<Severity, string>;

/** For people: a line for each finding, the line of the file below it, and a summary at the end. */
export async function* writeText(
  report: Report,
  { style, comparison, exemptions }: ReportSetting,
): AsyncGenerator<string> {
  let tally = nothing;
  for await (const object of report) {
    tally = counted(tally, object);
    for (const finding of activeFindings(object)) {
      if (object.type !== 'problem' && object.document.isStored === true) {
        yield `${printable(object.name)}: ${findingText(finding, style)}\n`;
        continue;
      }
      const [line, caret] = finding.text === undefined ? [] : excerpt(finding.text, finding.position);
      yield `${findingLine(object.file, finding, style)}\n${line === undefined ? '' : `${style('dim', `${line}\n${caret}`)}\n`}`;
    }
  }
  const exempt = exemptions?.() ?? [];
  if (exempt.length > 0)
    yield `${style('bold', `Exemptions (${exempt.length}):`)}\n${exempt.map((one) => `  ${printable(describeExemption(one))}\n`).join('')}`;
  const compared = comparison?.();
  if (compared !== undefined && compared.gone.length > 0)
    yield `${style('bold', 'Gone since the earlier report:')}\n${compared.gone.map((identity) => `  ${printable(identity)}\n`).join('')}`;
  yield `${describeTally(tally)}\n`;
  if (compared !== undefined) yield `${describeComparison(compared)}\n`;
}

/** `file:line:column: severity [rule] field: message`, which editors turn into links. */
export function findingLine(file: string, finding: ReportedFinding, style: ReportSetting['style']): string {
  const { line, column } = finding.position;
  return `${printable(file)}:${line}:${column}: ${findingText(finding, style)}`;
}

function findingText({ severity, ...finding }: ReportedFinding, style: ReportSetting['style']): string {
  return `${style(colours[severity], severity)} [${finding.rule}] ${sentence(finding)}`;
}

/** The finding in one line: its field and its message, with invisible characters escaped. */
export function sentence({ field, message }: Pick<ReportedFinding, 'field' | 'message'>): string {
  return printable(field === '' ? message : `${field}: ${message}`);
}
