import { display, quote } from '../../text/display.ts';
import { type HostnameProblemKind, hostnameProblems } from '../../text/hostname.ts';
import { unenforcedRule, type ValueRule } from '../engine/demand.ts';
import type { Rule } from '../engine/rule.ts';

// These hostnames are harmless to others: they match only requests for that hostname.

/** Declares a rule about one kind of hostname problem, for all hostnames of an object, with and without wildcard. */
export function hostnameRule(kind: HostnameProblemKind, frame: Rule): ValueRule<string> {
  return unenforcedRule(frame, function judge(value, report) {
    for (const problem of hostnameProblems(value)) {
      if (problem.kind === kind)
        report({ below: [], value: display(value), message: `Invalid hostname ${quote(value)}: ${problem.message}.` });
    }
  });
}
