import { display, quote } from '../../text/display.ts';
import { type HostnameProblemKind, hostnameProblems } from '../../text/hostname.ts';
import { unenforcedRule, type ValueRule } from '../engine/demand.ts';
import type { Rule } from '../engine/rule.ts';

// Such names harm nobody but their user: they match what they say, if anything ever asks for them.

/** Declares a rule about one kind of problem of every hostname of an object, wildcard or not. */
export function hostnameRule(kind: HostnameProblemKind, frame: Rule): ValueRule<string> {
  return unenforcedRule(frame, function judge(value, report) {
    for (const problem of hostnameProblems(value)) {
      if (problem.kind === kind) report({ below: [], value: display(value), message: `Invalid hostname ${quote(value)}: ${problem.message}.` });
    }
  });
}
