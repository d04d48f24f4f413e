import { hash } from 'node:crypto';
import type { JudgedFinding } from '../../core/admission/judged-finding.ts';
import { formatPath } from '../../core/resources/path.ts';
import { allRules } from '../../core/rules/engine/registry.ts';
import { printable } from '../../core/text/display.ts';
import { isRecord, listOf, type JsonRecord } from '../../core/text/record.ts';

/**
 * The outcomes in reports, by importance: admission would deny (`fail`), would warn (`warn`), or an exemption prevents a denial (`skip`).
 */
export const outcomes = ['fail', 'warn', 'skip'] as const;
export type Outcome = (typeof outcomes)[number];

/** Numbers of results by outcome. */
export type Totals = Readonly<Record<Outcome, number>>;

/** The identity of a stored object. */
export interface Audited {
  readonly apiVersion: string;
  readonly kind: string;
  /** `''` for cluster-scoped kinds. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** A finding about a stored object, ready for a report. */
export interface AuditResult {
  readonly object: Audited;
  readonly rule: string;
  readonly outcome: Outcome;
  /** Admission would deny the object with the profile `standard`, but the profile `audit` only records the finding. */
  readonly withheld: boolean;
  readonly path: string;
  readonly message: string;
  readonly exemption?: JudgedFinding['exemption'];
  /** When the finding appeared, in seconds since 1970. */
  readonly since: number;
}

const messageCharacters = 1_024;
const pathCharacters = 256;

/**
 * Returns the results for the findings of an object. Findings that admission only records have none, unless the profile `audit`
 * withholds a denial.
 *
 * @param sinceOf when a result with this identity appeared first, in seconds since 1970
 */
export function resultsOf(
  object: Audited,
  findings: readonly JudgedFinding[],
  sinceOf: (identity: string) => number,
): readonly AuditResult[] {
  return findings.flatMap((finding) => {
    const outcome = outcomeOf(finding);
    if (outcome === undefined) return [];
    const { rule, withheld, exemption } = finding;
    const result = {
      object,
      rule,
      outcome,
      withheld,
      path: printable(formatPath(finding.path), pathCharacters),
      message: printable(finding.message, messageCharacters),
      ...(exemption !== undefined && { exemption }),
    };
    return [{ ...result, since: sinceOf(identityOf(result)) }];
  });
}

function outcomeOf({ effect, withheld, exemption }: JudgedFinding): Outcome | undefined {
  if (exemption !== undefined) return 'skip';
  if (effect === 'deny') return 'fail';
  return effect === 'warn' || withheld ? 'warn' : undefined;
}

/** The identity of a result among those of all reports. It does not contain the time. */
export function identityOf({ object, rule, outcome, path, message }: Omit<AuditResult, 'since'>): string {
  return digest([object.uid, rule, outcome, path, message]);
}

/** A new leader keeps the identities of all stored results until it has judged all objects. */
function digest(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'base64url');
}

/** The order of results in a report, those that matter most first. */
export function byImportance(one: AuditResult, other: AuditResult): number {
  return (
    outcomes.indexOf(one.outcome) - outcomes.indexOf(other.outcome) ||
    byObject(one, other) ||
    compare(one.path, other.path) ||
    compare(one.rule, other.rule) ||
    compare(one.message, other.message)
  );
}

/** The order of the objects of results with the same outcome. */
export function byObject(
  one: Pick<AuditResult, 'object'> | undefined,
  other: Pick<AuditResult, 'object'> | undefined,
): number {
  return compare(one?.object.kind, other?.object.kind) || compare(one?.object.name, other?.object.name);
}

function compare(one = '', other = ''): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The result as both report APIs define it. */
export function reportedResult(result: AuditResult): JsonRecord {
  const { object, rule, outcome, withheld, path, message, exemption, since } = result;
  const { namespace, ...reference } = object;
  return {
    source: 'sallyport',
    policy: rule,
    rule,
    category: 'Gateway API',
    severity: severities[outcome],
    result: outcome,
    scored: true,
    timestamp: { seconds: since, nanos: 0 },
    resources: [{ ...reference, ...(namespace !== '' && { namespace }) }],
    message,
    properties: {
      path,
      effect: effectOf(outcome, withheld),
      documentation: documentationOf(rule),
      ...(exemption !== undefined && { 'exempt-until': exemption.until, 'exempt-reason': exemption.reason }),
    },
  };
}

/** The identity and the time of a result in a stored report. `undefined` for a result of another form. */
export function storedTime(result: unknown): readonly [identity: string, since: number] | undefined {
  if (!isRecord(result) || !isRecord(result['timestamp']) || !isRecord(result['properties'])) return undefined;
  const { seconds } = result['timestamp'];
  const [resource] = listOf(result['resources']);
  if (typeof seconds !== 'number' || !isRecord(resource)) return undefined;
  return [
    digest([resource['uid'], result['rule'], result['result'], result['properties']['path'], result['message']]),
    seconds,
  ];
}

const severities: Readonly<Record<Outcome, string>> = { fail: 'high', warn: 'medium', skip: 'low' };

function effectOf(outcome: Outcome, withheld: boolean): string {
  if (withheld) return 'would-deny';
  return { fail: 'deny', warn: 'warn', skip: 'exempt' }[outcome];
}

const documentation = 'https://github.com/sallyport/sallyport/blob/main/docs/rules';
const rulesWithPage: ReadonlySet<string> = new Set(allRules.map(({ id }) => id));

function documentationOf(rule: string): string {
  return `${documentation}/${rulesWithPage.has(rule) ? rule : 'README'}.md`;
}
