import { servedRouteKinds } from '../graph/protocols.ts';
import { visitSemantic } from '../schema/index.ts';
import type { Path } from '../resources/path.ts';
import { display, quote } from '../text/display.ts';
import { hostnameProblems, preciseHostnameProblems, type HostnameProblem, type HostnameProblemKind } from '../text/hostname.ts';
import { deniedWhenStrict } from './effects.ts';
import { rule } from './rule.ts';

/**
 * Declares a rule about one kind of problem of every hostname of an object. Such names harm nobody but their user:
 * they match what they say, if anything ever asks for them, so neither status nor traffic reacts.
 */
export function hostnameRule(declaration: {
  readonly id: string;
  readonly problem: HostnameProblemKind;
  readonly summary: string;
  readonly source: string;
}) {
  const { problem: kind, ...frame } = declaration;
  return rule({
    ...frame,
    kinds: [...servedRouteKinds, 'Gateway'],
    effect: deniedWhenStrict,
    check(subject, _read, report) {
      const reportAll = (path: Path, value: string, problems: readonly HostnameProblem[]): void => {
        for (const problem of problems) {
          if (problem.kind === kind) report({ path, value: display(value), message: `The hostname ${quote(value)} is not allowed: ${problem.message}.` });
        }
      };
      visitSemantic(subject.kind, subject, 'hostname', (path, value) => reportAll(path, value, hostnameProblems(value)));
      visitSemantic(subject.kind, subject, 'preciseHostname', (path, value) => reportAll(path, value, preciseHostnameProblems(value)));
    },
  });
}
