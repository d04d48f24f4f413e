import { authorityVerdicts } from './authority.ts';
import { someOf } from '../../core/text/display.ts';
import { lackingVerdicts } from './lacking.ts';
import { fail, ok, valueOf, warn, type Check, type DoctorFacts, type ServedObjects, type Verdict } from './facts.ts';

/** Checks of the controller itself: its pods, its leader, the authority of the channel to data planes, and its permissions. */
export const controllerChecks: readonly Check[] = [replicas, leader, authority, permissions];

/**
 * Whether there is a controller; `undefined` if it may exist unseen. Only the namespace of the installation is searched: a controller
 * of another one shows in its GatewayClasses.
 */
export function isControllerInstalled({
  controller: { pods, lease, objects },
}: Pick<DoctorFacts, 'controller'>): boolean | undefined {
  const isFound = valueOf(pods, []).length > 0 || valueOf(lease, undefined) !== undefined;
  if (isFound) return true;
  const isSearched = pods.type === 'known' && lease.type === 'known' && objects.type === 'known';
  return isSearched && observesClasses(objects.value) ? false : undefined;
}

/** Whether all GatewayClasses are known. */
export function observesClasses({ unobserved }: ServedObjects): boolean {
  return unobserved.every(({ kind }) => kind !== 'GatewayClass');
}

const elsewhere = 'sallyport doctor -n NAMESPACE   # the namespace of the controller';

function replicas(facts: DoctorFacts): readonly Verdict[] {
  const { pods, objects } = facts.controller;
  const { namespace } = facts.installation;
  const look = `kubectl -n ${namespace} get pods -l app.kubernetes.io/component=controller -o wide`;
  if (isControllerInstalled(facts) === false) {
    const classes = objects.type === 'known' ? objects.value.classes.map(({ ref }) => ref.name) : [];
    return classes.length === 0
      ? [ok('controller', 'not installed')]
      : [
          fail(
            'controller',
            `no controller found in namespace "${namespace}", but GatewayClasses name it (${someOf(classes)}): unless it runs in another namespace, their Gateways are not reconciled`,
            look,
            elsewhere,
          ),
        ];
  }
  if (pods.type === 'unknown')
    return [warn('controller', `cannot list pods: ${pods.problem}`, `kubectl auth can-i list pods -n ${namespace}`)];
  if (isControllerInstalled(facts) === undefined)
    return [
      warn(
        'controller',
        `unknown: no controller found in namespace "${namespace}", and another namespace may have one`,
        elsewhere,
      ),
    ];
  const ready = pods.value.filter(({ isReady }) => isReady);
  const images = new Set(pods.value.map(({ image }) => image));
  const state = `${ready.length} of ${pods.value.length} pods are ready`;
  const [cause] = pods.value.flatMap((pod) => pod.problems);
  const because = cause === undefined ? '' : `. ${cause}`;
  if (ready.length === 0)
    return [fail('controller', `${state}: statuses and data planes are not updated${because}`, look)];
  if (images.size > 1) return [warn('controller', `${state}, with different images: ${[...images].join(', ')}`, look)];
  if (ready.length < pods.value.length || ready.length === 1)
    return [warn('controller', `${state}: the loss of one pod interrupts updates${because}`, look)];
  return [ok('controller', `${state}, image ${[...images].join(', ')}`)];
}

/** Milliseconds. Clocks of machines differ. */
const tolerance = 60_000;

function leader(facts: DoctorFacts): readonly Verdict[] {
  const { lease } = facts.controller;
  const { namespace, controllerLease: name } = facts.installation;
  if (isControllerInstalled(facts) !== true) return [];
  const look = `kubectl -n ${namespace} get lease ${name} -o yaml`;
  const logs = `kubectl -n ${namespace} logs -l app.kubernetes.io/component=controller --tail=50`;
  if (lease.type === 'unknown')
    return [
      warn(
        'controller-leader',
        `cannot read Lease "${namespace}/${name}": ${lease.problem}`,
        `kubectl auth can-i get leases.coordination.k8s.io/${name} -n ${namespace}`,
      ),
    ];
  const { holder, renewed, duration } = lease.value ?? { holder: '', renewed: 0, duration: 0 };
  if (holder === '')
    return [
      fail('controller-leader', `Lease "${namespace}/${name}" has no holder: statuses are not updated`, look, logs),
    ];
  if (renewed + duration + tolerance < facts.now)
    return [
      fail(
        'controller-leader',
        `${holder} has not renewed Lease "${namespace}/${name}" since ${new Date(renewed).toISOString()}: statuses are not updated`,
        look,
        logs,
      ),
    ];
  return [ok('controller-leader', `${holder} leads`)];
}

/** The authority signs the certificates of the channel. Data planes that cannot verify the controller keep an old configuration. */
function authority(facts: DoctorFacts): readonly Verdict[] {
  if (isControllerInstalled(facts) !== true) return [];
  const { namespace, controllerSecret: secret } = facts.installation;
  return authorityVerdicts(facts.controller.authorities, {
    check: 'controller-authority',
    namespace,
    secret,
    component: 'controller',
    now: facts.now,
  });
}

function permissions(facts: DoctorFacts): readonly Verdict[] {
  if (isControllerInstalled(facts) !== true) return [];
  const { controllerPermissions: answers, installation } = facts;
  return lackingVerdicts(answers, {
    check: 'controller-permissions',
    namespace: installation.namespace,
    of: 'the controller',
    fix: 'kubectl apply -k deploy/overlays/controller   # or the overlay, or chart, that you installed with',
  });
}
