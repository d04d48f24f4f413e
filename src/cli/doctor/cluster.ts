import { trustedByAll } from '../../webhook/configuration/webhook-configuration.ts';
import { mayHaveImpact } from './impact.ts';
import { applyAgain, fail, ok, warn, type Check, type DoctorFacts, type Verdict } from './facts.ts';
import { lackingVerdicts } from './lacking.ts';

/** Whether the cluster is reachable, and whether webhook and watchdog have the permissions that they need. */
export const clusterChecks: readonly Check[] = [server, permissions];

function server({ server: version }: DoctorFacts): readonly Verdict[] {
  if (version.type === 'unknown') return [fail('api-server', version.problem, 'kubectl cluster-info')];
  if (version.value === undefined)
    return [warn('api-server', 'answers, but you may not read its version', 'kubectl auth can-i get /version')];
  return [ok('api-server', `answers, version ${version.value}`)];
}

/** Whether webhook and watchdog have the permissions that they need. */
export function permissions(facts: DoctorFacts): readonly Verdict[] {
  const { permissions: answers } = facts;
  const checked = {
    check: 'permissions',
    namespace: facts.installation.namespace,
    of: 'webhook and watchdog',
    fix: applyAgain,
  };
  if (answers.type === 'unknown') return lackingVerdicts(answers, checked);
  const keepsSecret = keepsAuthority(facts);
  const warns = mayHaveImpact(facts);
  const denied = answers.value.denied.filter(
    ({ resource, name }) =>
      (keepsSecret || resource !== 'secrets') && (warns || name !== facts.installation.impactConfiguration),
  );
  return lackingVerdicts({ type: 'known', value: { denied } }, checked);
}

/** With certificates from another source no Secret is needed: then ours does not exist, and the configuration trusts some authority. */
function keepsAuthority({ authorities, configuration }: DoctorFacts): boolean {
  const hasNone = authorities.type === 'known' && authorities.value === undefined;
  const isTrusted =
    configuration.type === 'known' && configuration.value !== undefined && trustedByAll(configuration.value).length > 0;
  return !(hasNone && isTrusted);
}
