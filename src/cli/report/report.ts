import type { Position, SourceDocument } from '../../files/document.ts';

export const severities = ['error', 'warning', 'note'] as const;
export type Severity = (typeof severities)[number];

/** Why a finding is told but does not count. */
export interface Suppression {
  /** An annotation of the object, or the baseline file. */
  readonly by: 'annotation' | 'baseline';
  readonly reason: string;
}

/** One thing that is wrong at one place. */
export interface ReportedFinding {
  readonly rule: string;
  /** `error`: admission would deny it, or it cannot be read. `warning`: admission would warn. `note`: it would record it. */
  readonly severity: Severity;
  readonly position: Position;
  /** The line of the file that `position` is on; absent where the file could not be read at all. */
  readonly text?: string;
  /** E.g. `spec.rules[0].timeouts.request`; '' where it is about the whole object. */
  readonly field: string;
  readonly message: string;
  /** What stays the same wherever the object stands and whatever precedes the place in it; absent where there is no object. Most formats do without. */
  readonly identity?: () => string;
  readonly suppression?: Suppression;
}

/** An object with what is to be said about it. */
export interface ReportedObject {
  /** `skipped`: a kind of somebody else, which is left alone. */
  readonly type: 'judged' | 'skipped';
  readonly file: string;
  /** `HTTPRoute shop/cart`. */
  readonly name: string;
  readonly document: SourceDocument;
  readonly findings: readonly ReportedFinding[];
}

/** A problem of a file that concerns no object. */
export interface ReportedProblem {
  readonly type: 'problem';
  readonly file: string;
  readonly findings: readonly ReportedFinding[];
}

export type Reported = ReportedObject | ReportedProblem;

/** What `check` found, object by object, in the order of the files. */
export type Report = AsyncIterable<Reported>;

/** The findings of a report compared with those of an earlier one. */
export interface Comparison {
  /** Findings that the earlier report does not have. */
  readonly new: number;
  readonly unchanged: number;
  /** Identities of findings that the earlier report has, and this one does not. */
  readonly gone: readonly string[];
}

/** What a format may use beside the report. */
export interface ReportSetting {
  /** Styles for people; leaves texts as they are where nobody looks on. */
  readonly style: (style: 'red' | 'yellow' | 'cyan' | 'dim' | 'bold', text: string) => string;
  readonly version: string;
  /** The comparison with an earlier report, to be asked for at the end; absent without one. */
  readonly comparison?: () => Comparison;
}

/** Writes a report in one format, piece by piece. */
export type ReportFormat = (report: Report, setting: ReportSetting) => AsyncIterable<string>;

/** The findings that count. */
export function activeFindings({ findings }: Reported): readonly ReportedFinding[] {
  return findings.filter(({ suppression }) => suppression === undefined);
}

/** How much there was. */
export interface Tally {
  /** Those that were judged. */
  readonly objects: number;
  readonly suppressed: number;
  /** Findings that count. */
  readonly bySeverity: Readonly<Record<Severity, number>>;
}

export const nothing: Tally = { objects: 0, suppressed: 0, bySeverity: { error: 0, warning: 0, note: 0 } };

/** A tally with one more object or problem. */
export function counted(tally: Tally, reported: Reported): Tally {
  const active = activeFindings(reported);
  const count = (severity: Severity): number => tally.bySeverity[severity] + active.filter((finding) => finding.severity === severity).length;
  return {
    objects: tally.objects + (reported.type === 'judged' ? 1 : 0),
    suppressed: tally.suppressed + reported.findings.length - active.length,
    bySeverity: { error: count('error'), warning: count('warning'), note: count('note') },
  };
}

/** `12 objects: 2 errors, 1 warning, 3 suppressed`. */
export function describeTally({ objects, suppressed, bySeverity: { error, warning, note } }: Tally): string {
  const rest = [...(note === 0 ? [] : [plural(note, 'note')]), ...(suppressed === 0 ? [] : [`${suppressed} suppressed`])];
  return `${plural(objects, 'object')}: ${[plural(error, 'error'), plural(warning, 'warning'), ...rest].join(', ')}`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
