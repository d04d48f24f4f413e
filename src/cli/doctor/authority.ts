import { fail, ok, warn, type AuthorityFacts, type Gathered, type Verdict } from './facts.ts';

/** A Secret with authorities, and the component that uses it. */
export interface AuthorityPlace {
  readonly check: string;
  readonly namespace: string;
  readonly secret: string;
  readonly component: 'webhook' | 'controller';
  /** Milliseconds since 1970. */
  readonly now: number;
}

/**
 * Checks the authority in a Secret: it must exist, be readable, be valid and be renewed in time.
 *
 * @param authorities the Secret; `undefined` if it does not exist
 */
export function authorityVerdicts(
  authorities: Gathered<AuthorityFacts | undefined>,
  { check, namespace, secret, component, now }: AuthorityPlace,
): readonly Verdict[] {
  if (authorities.type === 'unknown')
    return [
      warn(
        check,
        `cannot read Secret "${namespace}/${secret}": ${authorities.problem}`,
        `kubectl auth can-i get secrets/${secret} -n ${namespace}`,
      ),
    ];
  if (authorities.value === undefined)
    return [
      ok(
        check,
        `Secret "${namespace}/${secret}" not found: the certificates come from another source, or the ${component} has never run`,
      ),
    ];
  if (authorities.value.type === 'unreadable')
    return [
      fail(
        check,
        `Secret "${namespace}/${secret}": ${authorities.value.problem}. The leader replaces it`,
        podsOf(namespace),
        logsOf(namespace, component),
      ),
    ];
  const { current } = authorities.value;
  if (current === undefined)
    return [
      warn(check, 'no authority signs certificates now. A new one signs as soon as it is trusted, within a minute'),
    ];
  const end = new Date(current.notAfter).toISOString();
  const restart = `kubectl -n ${namespace} rollout restart deployment -l app.kubernetes.io/component=${component}`;
  if (current.notAfter <= now) return [fail(check, `expired at ${end}`, restart)];
  if (current.renewalTime <= now - overdue)
    return [
      warn(
        check,
        `valid until ${end}, but the renewal is overdue since ${new Date(current.renewalTime).toISOString()}`,
        restart,
      ),
    ];
  return [ok(check, `valid until ${end}`)];
}

/** Milliseconds. A rotation takes some minutes. */
const overdue = 10 * 60_000;

/** Returns the command that lists the pods of an installation. */
export function podsOf(namespace: string): string {
  return `kubectl -n ${namespace} get pods -o wide`;
}

/** Returns the command that shows the last log lines of a component. */
export function logsOf(namespace: string, component: AuthorityPlace['component']): string {
  return `kubectl -n ${namespace} logs -l app.kubernetes.io/component=${component} --tail=50`;
}
