import { printable } from '../../text/display.ts';
import { longestMessage, type Finding } from './rule.ts';

/** So many findings of one rule about one object are told. Nobody reads more, and an object may be made of nothing else. */
export const findingsPerRule = 250;

/** The fields that tell the parts of an object apart which fail on their own: `spec.rules[0].backendRefs[1].filters[2]`. */
const partDepth = 7;

/**
 * Findings of one rule about one object, which status and traffic react to: all of the first ones, and after those one for
 * each part of the object, so that every part that must fail does.
 */
export class FindingsOfRule {
  readonly found: Finding[] = [];
  readonly #parts = new Set<string>();

  add(finding: Finding): void {
    const part = this.#partOf(finding);
    if (this.found.length >= findingsPerRule && this.#parts.has(part)) return;
    this.#parts.add(part);
    this.found.push({ ...finding, message: printable(finding.message, longestMessage) });
  }

  #partOf({ path, consequence }: Finding): string {
    const depth = consequence?.scope === 'mirror' ? partDepth : partDepth - 2;
    return `${consequence?.condition ?? ''} ${consequence?.reason ?? ''} ${consequence?.scope ?? ''} ${path.slice(0, depth).join('.')}`;
  }
}

/** What is said about the findings of a rule that are not told one by one. It names the object, so any change makes it new. */
export function moreFindings(rule: string, count: number): Finding {
  return { rule, path: [], message: `The rule has ${count} more findings in this object. Fix the others first.` };
}
