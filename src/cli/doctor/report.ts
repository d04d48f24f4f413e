import { printable } from '../../core/text/display.ts';
import type { Terminal } from '../terminal.ts';
import { bundleChecks } from './bundles.ts';
import { clusterChecks, permissions } from './cluster.ts';
import { controllerChecks, isControllerInstalled } from './controller.ts';
import { definitionChecks } from './definitions.ts';
import { ok, type DoctorFacts, type Verdict } from './facts.ts';
import { gatewayChecks } from './gateways.ts';
import { impactChecks } from './impact.ts';
import { otherKinds } from './other-kinds.ts';
import { servingChecks } from './serving.ts';
import { webhookChecks } from './webhook.ts';

/** Runs all checks, in the order in which to fix problems. Without an API server there is only one verdict. */
export function diagnose(facts: DoctorFacts): readonly Verdict[] {
  const isInstalled = isWebhookInstalled(facts);
  const checks =
    facts.server.type === 'unknown'
      ? clusterChecks.slice(0, 1)
      : [
          ...clusterChecks.filter((check) => isInstalled || check !== permissions),
          ...definitionChecks,
          ...bundleChecks,
          otherKinds,
          ...(isInstalled ? [...webhookChecks, ...impactChecks] : [notInstalled]),
          ...controllerChecks,
          ...gatewayChecks,
          ...servingChecks,
        ];
  return checks.flatMap((check) => check(facts));
}

/** A cluster may have the controller alone. A webhook that was installed leaves at least its authority. */
function isWebhookInstalled(facts: DoctorFacts): boolean {
  const { configuration, readyEndpoints, authorities } = facts;
  const isAbsent =
    configuration.type === 'known' &&
    configuration.value === undefined &&
    readyEndpoints.type === 'known' &&
    readyEndpoints.value === 0 &&
    authorities.type === 'known' &&
    authorities.value === undefined;
  return !(isAbsent && isControllerInstalled(facts) === true);
}

function notInstalled(): readonly Verdict[] {
  return [
    ok('webhook-configuration', 'the webhook is not installed; the controller reports invalid objects as conditions'),
  ];
}

/** The exit code: 1 if a check failed, 0 if there are only warnings. */
export function exitCodeOf(verdicts: readonly Verdict[]): number {
  return verdicts.some(({ status }) => status === 'fail') ? 1 : 0;
}

const colours = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/**
 * Prints a line for each verdict, followed by the commands that fix it. Whoever answers instead of the API server can name objects as they
 * like.
 */
export function printVerdicts(terminal: Terminal, verdicts: readonly Verdict[]): void {
  for (const { check, status, message, commands } of verdicts) {
    terminal.line(`${terminal.style(colours[status], status.padEnd(4))} ${check}: ${printable(message)}`);
    for (const command of commands) terminal.line(`     $ ${printable(command)}`);
  }
  const count = (status: Verdict['status']): number => verdicts.filter((verdict) => verdict.status === status).length;
  terminal.line(
    `${count('ok')} ok, ${count('warn')} ${count('warn') === 1 ? 'warning' : 'warnings'}, ${count('fail')} failed`,
  );
}
