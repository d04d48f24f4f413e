import { sliceLabels } from '../../core/graph/backends/endpoints.ts';
import { quoteRef } from '../../core/resources/reference.ts';
import { someOf } from '../../core/text/display.ts';
import type { StoredObject } from '../../core/preflight/target.ts';
import { listOf, recordOf } from '../../core/text/record.ts';
import { controllerName } from '../names.ts';
import { isControllerInstalled } from './controller.ts';
import { describeCommand, describeCondition } from './stored-objects.ts';
import { fail, firstOf, ok, warn, type CertificateUse, type Check, type DoctorFacts, type Verdict } from './facts.ts';

/** Checks of what Gateways and routes refer to: certificates that expire, Services without endpoints, and rejected policies. */
export const servingChecks: readonly Check[] = [certificates, backends, policies];

const day = 86_400_000;
/** Milliseconds before the end of a certificate at which its renewal is overdue. */
const soon = 14 * day;
/** Renewal is also overdue after this part of the lifetime of a certificate with a short lifetime. */
const overdue = 0.8;

function certificates(facts: DoctorFacts): readonly Verdict[] {
  const { objects } = facts.controller;
  if (isControllerInstalled(facts) !== true || objects.type === 'unknown') return [];
  const { certificates: used, unobserved } = objects.value;
  const bad = used.flatMap((use) => certificateVerdicts(use, facts.now));
  if (bad.length > 0) return firstOf('certificates', bad);
  // The check of the objects reports which kinds cannot be read.
  const isComplete = unobserved.every(({ kind }) => kind !== 'Secret' && kind !== 'ConfigMap');
  return used.length === 0 || !isComplete
    ? []
    : [ok('certificates', `${used.length} certificates and authorities are valid`)];
}

function certificateVerdicts({ user, source, facts }: CertificateUse, now: number): readonly Verdict[] {
  const look = describeCommand(source);
  const subject = `${quoteRef(source)} of ${user}`;
  if (facts.type === 'unusable') return [fail('certificates', `${subject}: ${facts.problem}`, look)];
  const [start, end] = [Date.parse(facts.notBefore), Date.parse(facts.notAfter)];
  if (end <= now) return [fail('certificates', `${subject}: expired at ${facts.notAfter}`, look)];
  if (start > now) return [fail('certificates', `${subject}: not valid before ${facts.notBefore}`, look)];
  const isSoon = end - now < soon && now - start > (end - start) * overdue;
  return isSoon ? [warn('certificates', `${subject}: expires soon, at ${facts.notAfter}`, look)] : [];
}

function backends(facts: DoctorFacts): readonly Verdict[] {
  const { objects } = facts.controller;
  if (isControllerInstalled(facts) !== true || objects.type === 'unknown') return [];
  return firstOf(
    'backends',
    objects.value.idle.map(({ kind, namespace, name, port, users }) =>
      warn(
        'backends',
        `${kind} "${namespace}/${name}:${port}" has no ready endpoint; used by ${someOf(users)}`,
        `kubectl get endpointslices -n ${namespace} -l ${sliceLabels[kind]}=${name}`,
      ),
    ),
  );
}

/** Kinds whose status has an entry for each Gateway that uses the object. */
const judgedByGateway: ReadonlySet<string> = new Set([
  'BackendTLSPolicy',
  'XBackend',
  'XBackendTrafficPolicy',
  'XTelemetryPolicy',
]);

/** Gateways ignore a policy that is not accepted, and reject requests to an XBackend that is not. */
function policies(facts: DoctorFacts): readonly Verdict[] {
  const { objects } = facts.controller;
  if (isControllerInstalled(facts) !== true || objects.type === 'unknown') return [];
  return firstOf(
    'policies',
    objects.value.stored.filter(({ kind }) => judgedByGateway.has(kind)).flatMap(policyVerdicts),
  );
}

/** One result for each object: its first condition that is False for a Gateway of ours. */
function policyVerdicts(object: StoredObject): readonly Verdict[] {
  const bad = listOf(recordOf(object.json['status'])['ancestors'])
    .map(recordOf)
    .filter((entry) => entry['controllerName'] === controllerName)
    .flatMap((entry) => listOf(entry['conditions']).map(recordOf))
    .find(({ type, status }) => (type === 'Accepted' || type === 'ResolvedRefs') && status === 'False');
  return bad === undefined ? [] : [warn('policies', describeCondition(object, bad), describeCommand(object.ref))];
}
