import {
  mayBlock,
  trustedByAll,
  type WebhookConfiguration,
} from '../../webhook/configuration/webhook-configuration.ts';
import { logsOf } from './authority.ts';
import { applyAgain, fail, ok, valueOf, warn, type Check, type DoctorFacts, type Verdict } from './facts.ts';

/** Checks of the configuration for warnings about Services, Secrets, ConfigMaps, ClusterTrustBundles and Namespaces. None if it is not installed. */
export const impactChecks: readonly Check[] = [impactConfiguration];

/** Returns whether the configuration for warnings is installed, or may be. */
export function mayHaveImpact({ impactConfiguration: configuration }: DoctorFacts): boolean {
  return configuration.type === 'unknown' || configuration.value !== undefined;
}

const check = 'webhook-impact';

function impactConfiguration(facts: DoctorFacts): readonly Verdict[] {
  const { impactConfiguration: configuration, installation } = facts;
  const { namespace, service, impactConfiguration: name } = installation;
  const look = `kubectl get validatingwebhookconfiguration ${name} -o yaml`;
  if (configuration.type === 'unknown')
    return [warn(check, `cannot read the configuration for warnings: ${configuration.problem}`, look)];
  if (configuration.value === undefined) return [];
  const verdicts = [
    ...problemsOf(configuration.value, facts, look),
    ...untrusting(configuration.value, facts, [look, logsOf(namespace, 'webhook')]),
  ];
  return verdicts.length > 0
    ? verdicts
    : [ok(check, `${name} calls Service "${namespace}/${service}", and only warns: failurePolicy is Ignore`)];
}

function problemsOf(
  configuration: WebhookConfiguration,
  { installation: { namespace, service } }: DoctorFacts,
  look: string,
): readonly Verdict[] {
  const elsewhere = configuration.webhooks.filter(
    (webhook) => webhook.service?.namespace !== namespace || webhook.service.name !== service,
  );
  const names = elsewhere.map((webhook) => webhook.name).join(', ');
  return [
    ...(elsewhere.length > 0
      ? [
          warn(
            check,
            `${names} of ${configuration.name} does not call Service "${namespace}/${service}"`,
            look,
            applyAgain,
          ),
        ]
      : []),
    ...(mayBlock(configuration)
      ? [
          fail(
            check,
            `${configuration.name} has failurePolicy Fail: the API server rejects changes of Services, Secrets, ConfigMaps, ClusterTrustBundles or Namespaces while it cannot call the webhook. It must be Ignore`,
            applyAgain,
          ),
        ]
      : []),
  ];
}

function untrusting(
  impact: WebhookConfiguration,
  { configuration, installation }: DoctorFacts,
  commands: readonly string[],
): readonly Verdict[] {
  const validating = valueOf(configuration, undefined);
  const trusted = validating === undefined ? [] : trustedByAll(validating);
  const trustedHere = trustedByAll(impact);
  if (trustedHere.length > 0 && trusted.every((certificate) => trustedHere.includes(certificate))) return [];
  return [
    warn(
      check,
      `the caBundle of ${impact.name} differs from ${installation.configuration}, so there are no warnings. The leader of the webhook updates it within a minute, if it runs with --impact-configuration=${impact.name}`,
      ...commands,
    ),
  ];
}
