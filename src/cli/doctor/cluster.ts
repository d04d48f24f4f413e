import { fail, ok, warn, type Check, type DoctorFacts, type Permission, type Verdict } from './facts.ts';

/** Whether the cluster can be reached, and what one may do there. */
export const clusterChecks: readonly Check[] = [server, permissions];

function server({ server: version }: DoctorFacts): readonly Verdict[] {
  if (version.type === 'unknown') return [fail('api-server', version.problem, 'kubectl cluster-info')];
  return [ok('api-server', `answers, version ${version.value}`)];
}

function permissions({ permissions: answers }: DoctorFacts): readonly Verdict[] {
  if (answers.type === 'unknown') return [warn('permissions', `cannot be asked for: ${answers.problem}`)];
  const { user, denied, asked } = answers.value;
  if (denied.length === 0) return [ok('permissions', `${user} has all ${asked} that were asked for`)];
  return [fail('permissions', `${user} lacks ${denied.map(describe).join('; ')}`, 'kubectl apply -k deploy/overlays/audit')];
}

function describe({ verb, group, resource, namespace, name }: Permission): string {
  const what = `${resource}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
  return `${verb} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
