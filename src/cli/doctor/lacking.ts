import { fail, ok, warn, type Gathered, type Permission, type Permissions, type Verdict } from './facts.ts';

/** The subject of a check of permissions. */
export interface Checked {
  readonly check: string;
  /** The namespace of the ServiceAccounts. */
  readonly namespace: string;
  /** `webhook and watchdog` */
  readonly of: string;
  /** The command that grants the permissions. */
  readonly fix: string;
}

/** The verdicts about permissions of ServiceAccounts: one for each account that lacks some. */
export function lackingVerdicts(
  answers: Gathered<Pick<Permissions, 'denied' | 'unchecked'>>,
  { check, namespace, of, fix }: Checked,
): readonly Verdict[] {
  if (answers.type === 'unknown') {
    const message = `cannot check the permissions of ${of}; this requires permission to create SubjectAccessReviews: ${answers.problem}`;
    return [warn(check, message, 'kubectl auth can-i create subjectaccessreviews.authorization.k8s.io')];
  }
  const { denied, unchecked } = answers.value;
  const missing = [...Map.groupBy(denied, ({ account }) => account)].map(([account, some]) =>
    fail(check, `ServiceAccount "${namespace}/${account}" lacks ${some.map(describe).join('; ')}`, fix),
  );
  if (unchecked !== undefined) return [...missing, warn(check, `permissions of ${of} are not checked in ${unchecked}`)];
  return missing.length > 0 ? missing : [ok(check, `all permissions of ${of} are granted`)];
}

function describe({ verbs, group, resource, subresource, namespace, name }: Permission): string {
  const full = subresource === undefined ? resource : `${resource}/${subresource}`;
  const what = `${full}${group === '' ? '' : `.${group}`}${name === undefined ? '' : `/${name}`}`;
  return `${verbs.join(', ')} ${what}${namespace === undefined ? '' : ` in ${namespace}`}`;
}
