import type { Terminal } from '../terminal.ts';
import { clusterChecks } from './cluster.ts';
import { definitionChecks } from './definitions.ts';
import type { DoctorFacts, Verdict } from './facts.ts';
import { webhookChecks } from './webhook.ts';

/** Runs all checks, in the order in which to fix problems. Without an API server there is only one verdict. */
export function diagnose(facts: DoctorFacts): readonly Verdict[] {
  const checks =
    facts.server.type === 'unknown'
      ? clusterChecks.slice(0, 1)
      : [...clusterChecks, ...definitionChecks, ...webhookChecks];
  return checks.flatMap((check) => check(facts));
}

/** The exit code: 1 if a check failed, 0 if there are only warnings. */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  return verdicts.some(({ status }) => status === 'fail') ? 1 : 0;
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** Prints a line for each verdict, followed by the commands that fix it. */
export function printVerdicts(terminal: Terminal, verdicts: readonly Verdict[]): void {
  for (const { check, status, message, commands } of verdicts) {
    terminal.line(`${terminal.style(colours[status], status.padEnd(4))} ${check}: ${message}`);
    for (const command of commands) terminal.line(`     $ ${command}`);
  }
  const count = (status: Verdict['status']): number => verdicts.filter((verdict) => verdict.status === status).length;
  terminal.line(`${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`);
}
