import {
  counted,
  preflightChecks,
  type PreflightCheck,
  type PreflightFinding,
  type PreflightSeverity,
} from '../../core/preflight/finding.ts';
import { isUnobserved } from '../../core/preflight/environment.ts';
import type { RouteState } from '../../core/preflight/accepted.ts';
import { printable } from '../../core/text/display.ts';
import type { Terminal } from '../terminal.ts';
import { cell } from './impact.ts';
import { jsonText } from './json-text.ts';

/** The results of preflight. */
export interface PreflightReport {
  /** Version of the format. */
  readonly version: 1;
  /** The installed bundle: `v1.5 experimental` */
  readonly from: string;
  /** The target: `v1.7.0 standard`. Absent if the run only compared a report. */
  readonly to?: string;
  /** Number of Gateway API objects. */
  readonly objects: number;
  readonly findings: readonly PreflightFinding[];
  /** The command that upgrades the CRDs. Absent if there is a blocker, in any namespace, or if not everything is observed. */
  readonly upgrade?: string;
  /** The status of every route, for a later `--since`. */
  readonly routes: readonly RouteState[];
}

type Style = Terminal['style'];
type Print = (report: PreflightReport, style: Style) => string;

/** The output formats. */
export const preflightFormats = { text: printText, json: printJson, markdown: printMarkdown } satisfies Record<
  string,
  Print
>;

const titles: Readonly<Record<PreflightCheck, string>> = {
  'unobserved-crds': 'CRDs that are not observed',
  'unobserved-objects': 'Objects that are not observed',
  'unobserved-cluster': 'Facts about the cluster that are not observed',
  'kubernetes-version': 'Kubernetes version',
  'safe-upgrades': 'Upgrade policy',
  'managed-crds': 'CRDs that another party manages',
  'stored-versions': 'Stored versions',
  'lost-protection': 'Protection that is lost',
  'rejected-objects': 'Objects that are rejected',
  'pruned-fields': 'Fields that are dropped',
  'removed-kinds': 'Kinds without a CRD in the target',
  'old-clients': 'Clients that write old versions',
  controllers: 'Other controllers',
  'status-and-traffic': 'Status and traffic',
  'lost-accepted': 'Routes that have lost Accepted',
};

const severities: readonly PreflightSeverity[] = ['blocker', 'warning', 'note'];
const colors = { blocker: 'red', warning: 'yellow', note: 'cyan' } as const;
const longestLine = 2_000;
/** Maximum number of findings per check in text and Markdown. JSON contains all. */
const shownFindings = 50;

interface Section {
  readonly title: string;
  readonly counts: string;
  readonly worst: PreflightSeverity;
  readonly findings: readonly PreflightFinding[];
}

/** The sections that have findings, each with the most severe findings first. */
function sectionsOf({ findings }: PreflightReport): readonly Section[] {
  return preflightChecks.flatMap((check) => {
    const some = findings.filter((finding) => finding.check === check);
    const sorted = severities.flatMap((severity) => some.filter((finding) => finding.severity === severity));
    const [first] = sorted;
    return first === undefined
      ? []
      : [{ title: titles[check], counts: countsOf(some), worst: first.severity, findings: sorted }];
  });
}

function countsOf(findings: readonly PreflightFinding[]): string {
  return severities
    .flatMap((severity) => {
      const count = findings.filter((finding) => finding.severity === severity).length;
      return count === 0 ? [] : [counted(count, severity)];
    })
    .join(', ');
}

function printText(report: PreflightReport, style: Style): string {
  const sections = sectionsOf(report).map(({ title, counts, worst, findings }) => {
    const shown = findings.slice(0, shownFindings).map((finding) => findingText(finding, style));
    return [`${style('bold', title)}  ${style(colors[worst], counts)}`, ...shown, ...restOf(findings)].join('\n');
  });
  return `${[style('bold', headingOf(report)), ...sections, resultOf(report, style)].join('\n\n')}\n`;
}

function findingText({ severity, subject, field, message, commands, source }: PreflightFinding, style: Style): string {
  const place = line(field === undefined ? subject : `${subject}: ${field}`);
  return [
    `  ${style(colors[severity], severity.padEnd(7))} ${style('bold', place)}`,
    `          ${line(message)}`,
    ...(source === undefined ? [] : [`          ${style('dim', line(source))}`]),
    ...commands.map((command) => `          $ ${line(command)}`),
  ].join('\n');
}

function restOf(findings: readonly PreflightFinding[]): readonly string[] {
  const more = findings.length - shownFindings;
  return more > 0 ? [`  and ${more} more; see -o json`] : [];
}

function line(text: string): string {
  return printable(text, longestLine);
}

function headingOf({ from, to, objects }: PreflightReport): string {
  return `Gateway API ${from}${to === undefined ? '' : ` → ${to}`}: ${counted(objects, 'object')}`;
}

function resultOf(report: PreflightReport, style: Style): string {
  const { to, findings, upgrade } = report;
  const isBlocked = findings.some(({ severity }) => severity === 'blocker');
  const total = findings.length === 0 ? 'Nothing found.' : `${countsOf(findings)}.`;
  if (to === undefined)
    return style(isBlocked ? 'red' : 'green', isBlocked ? total : `${total} No route has lost Accepted.`);
  if (upgrade !== undefined)
    return `${style('green', total)} Save this report with -o json, then upgrade:\n  $ ${upgrade}`;
  if (isBlocked) return `${style('red', total)} Fix the blockers, then run preflight again.`;
  if (findings.some(isUnobserved))
    return `${style('yellow', total)} Not everything is observed: run preflight with permission to list the CRDs and all objects before you upgrade.`;
  return `${style('yellow', total)} Other namespaces have blockers: run preflight without --namespace before you upgrade.`;
}

function printJson(report: PreflightReport): string {
  const count = (severity: PreflightSeverity): number =>
    report.findings.filter((finding) => finding.severity === severity).length;
  return `${jsonText({ ...report, summary: { blockers: count('blocker'), warnings: count('warning'), notes: count('note') } }, 2)}\n`;
}

const unstyled: Style = (_style, text) => text;

function printMarkdown(report: PreflightReport): string {
  const sections = sectionsOf(report).map(({ title, counts, findings }) => {
    const rows = findings
      .slice(0, shownFindings)
      .map(
        ({ severity, subject, field, message, commands, source }) =>
          `| ${[severity, field === undefined ? subject : `${subject}: ${field}`, source === undefined ? message : `${message} ${source}`].map((text) => cell(line(text))).join(' | ')} | ${commands.map((command) => `<code>${cell(line(command))}</code>`).join('<br>')} |`,
      );
    return [`#### ${title}: ${counts}\n`, '| | | | Fix |\n|---|---|---|---|', ...rows, ...restOf(findings)].join('\n');
  });
  return `### ${headingOf(report)}\n\n${[...sections, resultOf(report, unstyled).replace(/\n {2}\$ (.*)$/, '\n\n```\n$1\n```')].join('\n\n')}\n`;
}
