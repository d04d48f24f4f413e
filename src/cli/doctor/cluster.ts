import { trustedByAll } from '../../webhook/configuration/webhook-configuration.ts';
import { mayHaveImpact } from './impact.ts';
import { applyAgain, fail, ok, warn, type Check, type DoctorFacts, type Permission, type Verdict } from './facts.ts';

/** Whether the cluster is reachable, and whether webhook and watchdog have the permissions that they need. */
export const clusterChecks: readonly Check[] = [server, permissions];

function server({ server: version }: DoctorFacts): readonly Verdict[] {
  if (version.type === 'unknown') return [fail('api-server', version.problem, 'kubectl cluster-info')];
  return [ok('api-server', `answers, version ${version.value}`)];
}

/** Whether webhook and watchdog have the permissions that they need. */
export function permissions(facts: DoctorFacts): readonly Verdict[] {
  const { permissions: answers } = facts;
  if (answers.type === 'unknown') {
    const message = `cannot check the permissions of webhook and watchdog; this requires permission to create SubjectAccessReviews: ${answers.problem}`;
    return [warn('permissions', message, 'kubectl auth can-i create subjectaccessreviews.authorization.k8s.io')];
  }
  const keepsSecret = keepsAuthority(facts);
  const warns = mayHaveImpact(facts);
  const lacking = answers.value.denied.filter(
    ({ resource, name }) =>
      (keepsSecret || resource !== 'secrets') && (warns || name !== facts.installation.impactConfiguration),
  );
  if (lacking.length === 0) return [ok('permissions', 'webhook and watchdog have all permissions that they need')];
  return [...Map.groupBy(lacking, ({ account }) => account)].map(([account, some]) =>
    fail(
      'permissions',
      `ServiceAccount "${facts.installation.namespace}/${account}" lacks ${some.map(describe).join('; ')}`,
      applyAgain,
    ),
  );
}

/** With certificates from another source no Secret is needed: then ours does not exist, and the configuration trusts some authority. */
function keepsAuthority({ authorities, configuration }: DoctorFacts): boolean {
  const hasNone = authorities.type === 'known' && authorities.value === undefined;
  const isTrusted =
    configuration.type === 'known' && configuration.value !== undefined && trustedByAll(configuration.value).length > 0;
  return !(hasNone && isTrusted);
}

function describe({ verbs, group, resource, namespace, name }: Permission): string {
  const what = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
  return `${verbs.join(', ')} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
