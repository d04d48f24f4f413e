import { keyOf } from '../../incremental/key.ts';
import { formatPath } from '../../resources/path.ts';
import { printable } from '../../text/display.ts';
import { longestMessage, type Finding } from './rule.ts';

/** The maximum number of findings of one rule about one object. Nobody reads more, and an object may consist of nothing else. */
export const findingsPerRule = 250;

/** The number of path elements that identify the smallest part that fails on its own: `spec.rules[0].backendRefs[1]`. A rule works without its mirrors. */
const partDepth = 5;

/**
 * The findings of one rule about one object that status and traffic react to. After the limit, only one finding for each part
 * of the object is kept, so that every invalid part still fails.
 */
export class FindingsOfRule {
  readonly found: Finding[] = [];
  /** The parts with findings. Created at the limit, which almost no object reaches. */
  private parts: Set<string> | undefined;
  /** The last finding that was not kept. The next one is usually in the same part. */
  private last: Finding | undefined;

  /** @returns whether the finding is kept */
  add(finding: Finding): boolean {
    if (this.found.length >= findingsPerRule) {
      this.parts ??= new Set(this.found.map(partOf));
      if (this.last !== undefined && areInOnePart(this.last, finding)) return false;
      const part = partOf(finding);
      if (this.parts.has(part)) {
        this.last = finding;
        return false;
      }
      this.parts.add(part);
    }
    this.found.push({ ...finding, message: printable(finding.message, longestMessage) });
    return true;
  }
}

function partOf(finding: Finding): string {
  const { condition = '', reason = '', scope = '' } = finding.consequence ?? {};
  return keyOf([condition, reason, scope, formatPath(finding.path.slice(0, partDepth))]);
}

/** Tells the same as `partOf` in much less time, because an object may have 100,000 findings in one part. */
function areInOnePart(one: Finding, other: Finding): boolean {
  for (let index = 0; index < partDepth; index += 1) if (one.path[index] !== other.path[index]) return false;
  const { consequence: first } = one;
  const { consequence: second } = other;
  return first?.condition === second?.condition && first?.reason === second?.reason && first?.scope === second?.scope;
}

/**
 * Returns the finding that replaces the findings of a rule beyond the limit. Its path is the whole object, so every change of
 * the object makes it new.
 */
export function moreFindings(rule: string, count: number): Finding {
  return { rule, path: [], message: `The rule has ${count} more findings in this object. Fix the others first.` };
}
