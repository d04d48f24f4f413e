import { nearest } from '../../core/text/suggest.ts';
import { quote } from '../../core/text/display.ts';
import { valueAt } from '../../core/text/record.ts';
import type { Report, Reported, ReportedFinding, Severity } from './report.ts';
import { byPosition, findingOf } from './reported.ts';
import { checkRules, ruleSummaries } from './rules.ts';

/** The annotation that suppresses findings of `check`, never of the webhook: `rule: reason; rule: reason`. */
export const ignoreAnnotation = 'sallyport.dev/ignore';

/** The parsed annotation of one object. */
export interface Ignored {
  /** Rule → reason. */
  readonly reasons: ReadonlyMap<string, string>;
  /** Problems of the annotation, each with its fix. */
  readonly problems: readonly string[];
}

/** Suppresses findings that the annotations of their own objects ignore. */
export async function* withAnnotations(report: Report): Report {
  for await (const object of report) yield withAnnotation(object);
}

function withAnnotation(object: Reported): Reported {
  if (object.type !== 'judged') return object;
  const { document, name } = object;
  const ignored = readIgnored(document.value);
  if (ignored === nothingIgnored) return object;
  const remark = (severity: Severity, message: string): ReportedFinding =>
    findingOf(document, name, {
      rule: checkRules.suppression,
      severity,
      path: ['metadata', 'annotations', ignoreAnnotation],
      message,
    });
  const idle = [...ignored.reasons.keys()].filter((rule) => object.findings.every((finding) => finding.rule !== rule));
  const findings = [
    ...object.findings.map((finding) => {
      const reason = ignored.reasons.get(finding.rule);
      return reason === undefined ? finding : { ...finding, suppression: { by: 'annotation' as const, reason } };
    }),
    ...ignored.problems.map((message) => remark('warning', message)),
    ...idle.map((rule) =>
      remark('note', `silences ${rule}, which has no findings here; remove it unless other options of check need it`),
    ),
  ];
  return { ...object, findings: findings.sort(byPosition) };
}

const nothingIgnored: Ignored = { reasons: new Map(), problems: [] };

/** Parses the annotation of an object of any shape. An entry without a reason suppresses nothing. */
export function readIgnored(json: unknown): Ignored {
  const value = valueAt(json, ['metadata', 'annotations', ignoreAnnotation]);
  if (value === undefined) return nothingIgnored;
  if (typeof value !== 'string')
    return { reasons: new Map(), problems: [`is ${quote(value)}; write text: "rule: reason; rule: reason"`] };
  const reasons = new Map<string, string>();
  const wrong: (() => string)[] = [];
  for (const entry of value
    .split(/[;\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const colon = entry.indexOf(':');
    const rule = (colon === -1 ? entry : entry.slice(0, colon)).trim();
    const reason = colon === -1 ? '' : entry.slice(colon + 1).trim();
    if (!ruleSummaries.has(rule)) wrong.push(() => unknownRule(rule));
    else if (reason === '')
      wrong.push(() => `silences ${rule} without a reason and is ignored; use "${rule}: why it is right here"`);
    else reasons.set(rule, reason);
  }
  return { reasons, problems: describeFirst(wrong) };
}

/** A description takes a millisecond, and an annotation may have 100,000 entries. */
const maxProblems = 32;

function describeFirst(wrong: readonly (() => string)[]): readonly string[] {
  const problems = wrong.slice(0, maxProblems).map((describe) => describe());
  const more = wrong.length - problems.length;
  return more === 0
    ? problems
    : [...problems, `has ${more} more entries that silence nothing; correct the others first`];
}

function unknownRule(rule: string): string {
  const near = nearest(rule, ruleSummaries.keys());
  const advice = near === undefined ? 'use the id of a rule; findings show it in brackets' : `did you mean ${near}?`;
  return `names ${quote(rule)}, which is not a rule; ${advice}`;
}
