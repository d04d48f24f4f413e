import { keyOf } from '../incremental/key.ts';
import type { Path } from '../resources/path.ts';
import { pathNotPermitted } from '../rules/matches/path-not-permitted.ts';
import { hostnameNotPermitted } from '../rules/parents/hostname-not-permitted.ts';
import { canonical } from '../text/compare-json.ts';
import { valueAt } from '../text/record.ts';
import type { Steps } from '../text/steps.ts';
import type { JudgedFinding } from './judged-finding.ts';

/** The findings about an object. */
export interface Judged {
  readonly json: unknown;
  readonly findings: readonly JudgedFinding[];
}

/**
 * Returns the findings about the new object that the old object did not have on the same subtree, in steps. Otherwise an object that was
 * stored before a rule existed could never be labelled again.
 */
export function* newFindings(before: Judged, after: Judged): Steps<readonly JudgedFinding[]> {
  if (before.findings.length === 0) return after.findings;
  const contents = new Contents();
  const known = new Map<string, number>();
  for (const finding of before.findings) {
    const fingerprint = yield* fingerprintOf(finding, before.json, contents);
    known.set(fingerprint, (known.get(fingerprint) ?? 0) + 1);
  }
  const introduced: JudgedFinding[] = [];
  for (const finding of after.findings) {
    const fingerprint = yield* fingerprintOf(finding, after.json, contents);
    const left = known.get(fingerprint) ?? 0;
    if (left > 0) known.set(fingerprint, left - 1);
    else introduced.push(finding);
  }
  return introduced;
}

/** Numbers of values: the same for the same JSON. Hundreds of findings can be about one subtree of a megabyte, which is read once. */
class Contents {
  private readonly numbers = new Map<string, number>();
  private readonly known = new Map<unknown, number>();

  /** Each value that is read is a step. */
  *numberOf(value: unknown): Steps<number> {
    const before = this.known.get(value);
    if (before !== undefined) return before;
    const text = canonical(value);
    const number = this.numbers.get(text) ?? this.numbers.size;
    this.numbers.set(text, number);
    this.known.set(value, number);
    yield;
    return number;
  }
}

/** Rules with findings about a value that is not in the subtree of their path: a hostname of the route, found at a parentRef or match. */
const aboutValues: ReadonlySet<string> = new Set([hostnameNotPermitted.id, pathNotPermitted.id]);

/** Leaves out list positions, so that inserting a rule above an old mistake does not make the mistake a new one. */
function* fingerprintOf(finding: JudgedFinding, json: unknown, contents: Contents): Steps<string> {
  const fields = finding.path.filter((part) => typeof part === 'string');
  const value = aboutValues.has(finding.rule) ? (finding.value ?? '') : '';
  const number = yield* contents.numberOf(valueAt(json, subtreeOf(finding.path)));
  return keyOf([finding.rule, ...fields, value, String(number)]);
}

/** Returns the list item that contains the finding, or the field itself: the unit that its owner wrote. */
function subtreeOf(path: Path): Path {
  const lastItem = path.findLastIndex((part) => typeof part === 'number');
  return lastItem === -1 ? path : path.slice(0, lastItem + 1);
}
