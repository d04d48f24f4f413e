import { keyOf } from '../../incremental/key.ts';
import { formatPath } from '../../resources/path.ts';
import { printable } from '../../text/display.ts';
import { longestMessage, type Finding } from './rule.ts';

/** The maximum number of findings of one rule about one object. Nobody reads more, and an object may consist of nothing else. */
export const findingsPerRule = 250;

/** The number of path elements that identify the smallest part that fails on its own: `spec.rules[0].backendRefs[1].filters[2]`. */
const partDepth = 7;

/**
 * The findings of one rule about one object that status and traffic react to. After the limit, only one finding for each part
 * of the object is kept, so that every invalid part still fails.
 */
export class FindingsOfRule {
  readonly found: Finding[] = [];
  /** The parts with findings. Created at the limit, which almost no object reaches. */
  private parts: Set<string> | undefined;

  /** @returns whether the finding is kept */
  add(finding: Finding): boolean {
    if (this.found.length >= findingsPerRule) {
      this.parts ??= new Set(this.found.map((found) => this.partOf(found)));
      const part = this.partOf(finding);
      if (this.parts.has(part)) return false;
      this.parts.add(part);
    }
    this.found.push({ ...finding, message: printable(finding.message, longestMessage) });
    return true;
  }

  private partOf({ path, consequence }: Finding): string {
    const depth = consequence?.scope === 'mirror' ? partDepth : partDepth - 2;
    const { condition = '', reason = '', scope = '' } = consequence ?? {};
    return keyOf([condition, reason, scope, formatPath(path.slice(0, depth))]);
  }
}

/**
 * Returns the finding that replaces the findings of a rule beyond the limit. Its path is the whole object, so every change of
 * the object makes it new.
 */
export function moreFindings(rule: string, count: number): Finding {
  return { rule, path: [], message: `The rule has ${count} more findings in this object. Fix the others first.` };
}
