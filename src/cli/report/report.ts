import type { Position, SourceDocument } from '../../files/document.ts';

export const severities = ['error', 'warning', 'note'] as const;
export type Severity = (typeof severities)[number];

/** Why a finding is shown but does not count. */
export interface Suppression {
  /** An annotation of the object, its exemption from denials, or the baseline file. */
  readonly by: 'annotation' | 'exemption' | 'baseline';
  readonly reason: string;
}

/** One problem at one location. */
export interface ReportedFinding {
  readonly rule: string;
  /** `error`: admission would deny the object, or it cannot be read. `warning`: admission would warn. `note`: it would record it. */
  readonly severity: Severity;
  readonly position: Position;
  /** The line of the file at `position`. Absent if the file could not be read at all. */
  readonly text?: string;
  /** E.g. `spec.rules[0].timeouts.request`. '' if the finding is about the whole object. */
  readonly field: string;
  readonly message: string;
  /** An identity that is independent of positions. Absent if there is no object. Computed on demand, since most formats do not need it. */
  readonly identity?: () => string;
  readonly suppression?: Suppression;
}

/** An object with its findings. */
export interface ReportedObject {
  /** `skipped`: a kind of another project, which is not judged. */
  readonly type: 'judged' | 'skipped';
  readonly file: string;
  /** `HTTPRoute shop/cart`. */
  readonly name: string;
  readonly document: SourceDocument;
  readonly findings: readonly ReportedFinding[];
}

/** A problem of a file that does not concern an object. */
export interface ReportedProblem {
  readonly type: 'problem';
  readonly file: string;
  readonly findings: readonly ReportedFinding[];
}

export type Reported = ReportedObject | ReportedProblem;

/** The results of `check`, object by object, in the order of the files. */
export type Report = AsyncIterable<Reported>;

/** The comparison of a report with an earlier one. */
export interface Comparison {
  /** Number of findings that the earlier report does not have. */
  readonly new: number;
  readonly unchanged: number;
  /** Identities of findings that only the earlier report has. */
  readonly gone: readonly string[];
}

/** An exemption that an object asks for by its annotations. */
export type ListedExemption = {
  /** `HTTPRoute shop/late`. */
  readonly object: string;
  /** The number of findings that would deny the object without the exemption. */
  readonly findings: number;
} & (
  | { readonly state: 'valid'; readonly until: string; readonly reason: string }
  | { readonly state: 'invalid' | 'expired'; readonly problem: string }
);

/** Settings of a format besides the report. */
export interface ReportSetting {
  /** Styles a text for a terminal. Returns it unchanged if there is none. */
  readonly style: (style: 'red' | 'yellow' | 'cyan' | 'dim' | 'bold', text: string) => string;
  readonly version: string;
  /** The comparison with an earlier report, to be called at the end. Absent without one. */
  readonly comparison?: () => Comparison;
  /** The exemptions of the objects, to be called at the end. Absent for commands that ignore exemptions. */
  readonly exemptions?: () => readonly ListedExemption[];
}

/** Writes a report in one format, piece by piece. */
export type ReportFormat = (report: Report, setting: ReportSetting) => AsyncIterable<string>;

/** The findings that are not suppressed. */
export function activeFindings({ findings }: Reported): readonly ReportedFinding[] {
  return findings.filter(({ suppression }) => suppression === undefined);
}

/** Counts of a report. */
export interface Tally {
  /** Objects that were judged. */
  readonly objects: number;
  readonly suppressed: number;
  /** Findings that are not suppressed. */
  readonly bySeverity: Readonly<Record<Severity, number>>;
}

export const nothing: Tally = { objects: 0, suppressed: 0, bySeverity: { error: 0, warning: 0, note: 0 } };

/** Adds an object or problem to a tally. */
export function counted(tally: Tally, reported: Reported): Tally {
  const active = activeFindings(reported);
  const count = (severity: Severity): number =>
    tally.bySeverity[severity] + active.filter((finding) => finding.severity === severity).length;
  return {
    objects: tally.objects + (reported.type === 'judged' ? 1 : 0),
    suppressed: tally.suppressed + reported.findings.length - active.length,
    bySeverity: { error: count('error'), warning: count('warning'), note: count('note') },
  };
}

/** `12 objects: 2 errors, 1 warning, 3 suppressed`. */
export function describeTally({ objects, suppressed, bySeverity: { error, warning, note } }: Tally): string {
  const rest = [
    ...(note === 0 ? [] : [plural(note, 'note')]),
    ...(suppressed === 0 ? [] : [`${suppressed} suppressed`]),
  ];
  return `${plural(objects, 'object')}: ${[plural(error, 'error'), plural(warning, 'warning'), ...rest].join(', ')}`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
