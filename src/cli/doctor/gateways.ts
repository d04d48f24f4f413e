import { someOf } from '../../core/text/display.ts';
import type { StoredObject } from '../../core/preflight/target.ts';
import { qualifiedName, quoteRef } from '../../core/resources/reference.ts';
import { listOf, recordOf, recordsOf, textOf, type JsonRecord } from '../../core/text/record.ts';
import { labelValue } from '../../controller/names.ts';
import { inForce, podsOfGateway, type PodFacts, type PodInForce } from '../live/data-planes.ts';
import { settingsName } from '../live/webhook-settings.ts';
import { controllerName } from '../names.ts';
import { kindNotes, type ForbiddenKind } from '../../sources/cluster-objects.ts';
import { isControllerInstalled, observesClasses } from './controller.ts';
import { describeCommand, describeCondition, parentOf } from './stored-objects.ts';
import {
  fail,
  firstOf,
  ok,
  valueOf,
  warn,
  type Check,
  type ControllerFacts,
  type DoctorFacts,
  type ServedObjects,
  type UnknownSettings,
  type Verdict,
} from './facts.ts';

/** Checks of the classes, Gateways and data planes of the controller. */
export const gatewayChecks: readonly Check[] = [observation, classes, gateways, addresses, dataPlanes];

/** Objects that cannot be read are reported once, and count as unknown in all other checks. */
function observation(facts: DoctorFacts): readonly Verdict[] {
  const { objects, partlyListed } = facts.controller;
  const notes = (unobserved: readonly ForbiddenKind<string>[]): readonly Verdict[] =>
    kindNotes(unobserved).map((note) => warn('objects', note));
  if (objects.type === 'unknown')
    return [
      warn('objects', `cannot read the objects of the cluster: ${objects.problem}`, 'kubectl auth whoami'),
      ...notes(partlyListed),
    ];
  const { unobserved, settings } = objects.value;
  return [
    ...notes([...unobserved, ...partlyListed]),
    ...(settings === undefined ? [] : [settingsVerdict(settings, facts.installation.namespace)]),
  ];
}

/** Without the settings, it is unknown which routes their hostnamePolicies permit. */
function settingsVerdict({ type, problem }: UnknownSettings, namespace: string): Verdict {
  return type === 'invalid'
    ? fail(
        'settings',
        `webhook and controller keep earlier settings, because those in namespace "${namespace}" are invalid: ${problem}`,
        `kubectl edit configmap ${settingsName} -n ${namespace}`,
      )
    : warn(
        'settings',
        `cannot read the settings in namespace "${namespace}": ${problem}`,
        `kubectl auth can-i get configmaps/${settingsName} -n ${namespace}`,
      );
}

/** The objects to judge: statuses show what a controller does that may exist unseen. */
function served(facts: DoctorFacts): ServedObjects | undefined {
  const { objects } = facts.controller;
  return isControllerInstalled(facts) === false || objects.type === 'unknown' ? undefined : objects.value;
}

function classes(facts: DoctorFacts): readonly Verdict[] {
  const objects = served(facts);
  if (objects === undefined || !observesClasses(objects)) return [];
  if (objects.classes.length === 0 && isControllerInstalled(facts) !== true) return [];
  if (objects.classes.length === 0)
    return [
      warn(
        'gateway-classes',
        `no GatewayClass has the controllerName ${controllerName}: the controller serves no Gateway`,
        'kubectl get gatewayclass',
      ),
    ];
  const bad = objects.classes.flatMap((object) => {
    const accepted = conditionOf(object, 'Accepted');
    return accepted?.['status'] === 'True' ? [] : [problemOf('gateway-classes', object, accepted)];
  });
  return bad.length > 0
    ? firstOf('gateway-classes', bad)
    : [ok('gateway-classes', `accepted: ${someOf(objects.classes.map(({ ref }) => ref.name))}`)];
}

function gateways(facts: DoctorFacts): readonly Verdict[] {
  const { objects: read } = facts.controller;
  if (read.type === 'known' && !observesClasses(read.value))
    return [
      warn(
        'gateways',
        'unknown which Gateways the controller serves, because objects of kind GatewayClass are not observed: Gateways and their data planes are not checked',
        'kubectl auth can-i list gatewayclasses.gateway.networking.k8s.io',
      ),
    ];
  const objects = served(facts);
  if (objects === undefined || objects.gateways.length === 0) return [];
  const bad = objects.gateways.flatMap(gatewayVerdicts);
  return bad.length > 0
    ? firstOf('gateways', bad)
    : [
        ok(
          'gateways',
          `${objects.gateways.length} Gateways${placeText(placesOf('Gateway', objects.unobserved))} are accepted and programmed`,
        ),
      ];
}

/** The only namespaces in which objects of a kind are known. None if all are. */
function placesOf<K extends string>(kind: K, unobserved: readonly ForbiddenKind<K>[]): readonly (string | undefined)[] {
  return unobserved.filter((one) => one.kind === kind).map(({ namespace }) => namespace);
}

/** Limits a statement to the namespace in which objects are known. */
function placeText([place]: readonly (string | undefined)[]): string {
  return place === undefined ? '' : ` in namespace "${place}"`;
}

function gatewayVerdicts(object: StoredObject): readonly Verdict[] {
  const conditions = ['Accepted', 'Programmed', 'ResolvedRefs'].map((type) => conditionOf(object, type));
  const [accepted] = conditions;
  if (accepted === undefined || Number(accepted['observedGeneration']) < generationOf(object))
    return [problemOf('gateways', object, undefined)];
  const worst = conditions.find((condition) => condition !== undefined && condition['status'] !== 'True');
  if (worst !== undefined) return [problemOf('gateways', object, worst)];
  return accepted['reason'] === 'Accepted'
    ? []
    : [warn('gateways', `${quoteRef(object.ref)}: ${textOf(accepted['message'])}`, describeCommand(object.ref))];
}

function addresses(facts: DoctorFacts): readonly Verdict[] {
  const objects = served(facts);
  if (objects === undefined) return [];
  const bad = objects.gateways
    .filter(({ json }) => listOf(recordOf(json['status'])['addresses']).length === 0)
    .map((object) =>
      fail(
        'gateway-addresses',
        `${quoteRef(object.ref)} has no address: clients cannot connect`,
        `kubectl get service -n ${object.ref.namespace} -l gateway.networking.k8s.io/gateway-name=${labelValue(object.ref.name)}`,
      ),
    );
  return firstOf('gateway-addresses', bad);
}

function dataPlanes(facts: DoctorFacts): readonly Verdict[] {
  const objects = served(facts);
  const { dataPlanePods, deploymentProblems, partlyListed, reports } = facts.controller;
  // Pods of other namespaces may exist unseen.
  const places = placesOf('Pod', partlyListed);
  const judged = (objects?.gateways ?? []).filter(({ ref }) => places.every((place) => place === ref.namespace));
  if (objects === undefined || judged.length === 0) return [];
  if (dataPlanePods.type === 'unknown')
    return [warn('data-planes', `cannot list pods: ${dataPlanePods.problem}`, 'kubectl auth can-i list pods -A')];
  const unread =
    reports.type === 'known'
      ? []
      : [
          warn(
            'data-planes',
            `cannot read the acknowledgements of data planes: ${reports.problem}`,
            `kubectl auth can-i list configmaps -n ${facts.installation.namespace}`,
          ),
        ];
  const unknown =
    deploymentProblems.type === 'known'
      ? []
      : [
          warn(
            'data-planes',
            `cannot list Deployments: ${deploymentProblems.problem}`,
            'kubectl auth can-i list deployments.apps -A',
          ),
        ];
  const bad = [
    ...unread,
    ...unknown,
    ...judged.flatMap((gateway) => dataPlaneVerdicts(gateway, facts.controller)),
    ...objects.listenerSets.flatMap((set) => listenerSetVerdicts(set, judged, facts.controller)),
  ];
  return bad.length > 0
    ? firstOf('data-planes', bad)
    : [
        ok(
          'data-planes',
          `${dataPlanePods.value.length} pods of ${judged.length} Gateways${placeText([...places, ...placesOf('Gateway', objects.unobserved)])} are connected and have acknowledged the newest generation`,
        ),
      ];
}

function dataPlaneVerdicts(gateway: StoredObject, facts: ControllerFacts): readonly Verdict[] {
  const { namespace, name } = gateway.ref;
  const [quoted, label] = [quoteRef(gateway.ref), labelValue(name)];
  const look = `kubectl get pods -n ${namespace} -l gateway.networking.k8s.io/gateway-name=${label} -o wide`;
  const pods = podsOfGateway(valueOf(facts.dataPlanePods, []), gateway.ref);
  const problems = [
    ...(valueOf(facts.deploymentProblems, new Map()).get(`${namespace}/${label}`) ?? []),
    ...pods.flatMap((pod) => pod.problems),
  ];
  const states =
    facts.reports.type === 'known'
      ? inForce(`Gateway/${namespace}/${name}`, qualifiedName({ namespace, name }), {
          pods,
          reports: facts.reports.value,
        })
      : [];
  return [
    ...(pods.some(({ isReady }) => isReady)
      ? []
      : [fail('data-planes', `${quoted} has no ready pod: it is not served`, look)]),
    ...problems.map((problem) => fail('data-planes', `${quoted}: ${problem}`, look)),
    ...states.flatMap((state) => podVerdicts(gateway, state, look)),
    ...versionVerdicts(quoted, pods, { look, controllers: valueOf(facts.pods, []) }),
  ];
}

/** Pods that are not connected to the controller, and parts that they cannot serve, are reported for the Gateway. */
function listenerSetVerdicts(
  set: StoredObject,
  gateways: readonly StoredObject[],
  { dataPlanePods, reports }: ControllerFacts,
): readonly Verdict[] {
  const gateway = gateways.find(({ ref }) => qualifiedName(ref) === parentOf(set));
  // Data planes get only the listeners of ListenerSets that are accepted.
  if (gateway === undefined || reports.type === 'unknown' || conditionOf(set, 'Accepted')?.['status'] !== 'True')
    return [];
  const pods = podsOfGateway(valueOf(dataPlanePods, []), gateway.ref);
  const { namespace, name } = set.ref;
  const facts = { pods, reports: reports.value };
  return inForce(`ListenerSet/${namespace}/${name}`, parentOf(set), facts)
    .filter(({ isReady }) => isReady)
    .flatMap((state) => generationVerdicts(set, state, describeCommand(set.ref)));
}

/** Data planes have the image of the controller. After an upgrade, they are replaced one by one. */
function versionVerdicts(
  quoted: string,
  pods: readonly PodFacts[],
  { look, controllers }: { readonly look: string; readonly controllers: readonly PodFacts[] },
): readonly Verdict[] {
  const images = new Set(controllers.map(({ image }) => image));
  const others = pods.filter(({ image }) => images.size > 0 && !images.has(image));
  if (others.length === 0) return [];
  const theirs = someOf([...new Set(others.map(({ image }) => image))]);
  return [
    warn(
      'data-planes',
      `${quoted}: ${someOf(others.map(({ name }) => name))} run ${theirs}, the controller runs ${someOf([...images])}`,
      look,
    ),
  ];
}

function podVerdicts(
  gateway: StoredObject,
  { pod, isReady, generation, problems }: PodInForce,
  look: string,
): readonly Verdict[] {
  const owner = quoteRef(gateway.ref);
  const broken = Object.entries(problems).map(([part, problem]) =>
    fail('data-planes', `${owner}: pod "${pod}" cannot serve ${part}: ${problem}`, look),
  );
  // A pod that is not ready gets no traffic. Others may have just connected to another replica.
  if (!isReady) return broken;
  if (generation === undefined)
    return [
      ...broken,
      fail(
        'data-planes',
        `${owner}: pod "${pod}" is not connected to the controller and keeps its configuration`,
        look,
      ),
    ];
  return [...broken, ...generationVerdicts(gateway, { pod, generation }, look)];
}

/** A pod with an older generation of a Gateway or ListenerSet. None for a pod that is not connected. */
function generationVerdicts(
  object: StoredObject,
  { pod, generation = Infinity }: Pick<PodInForce, 'pod' | 'generation'>,
  look: string,
): readonly Verdict[] {
  const newest = generationOf(object);
  if (generation >= newest) return [];
  return [
    warn(
      'data-planes',
      `${quoteRef(object.ref)}: pod "${pod}" serves generation ${generation}, the newest is ${newest}`,
      look,
    ),
  ];
}

/** The problem of an object, by a condition that is not True; `undefined` if there is no current condition. */
function problemOf(check: string, object: StoredObject, condition: JsonRecord | undefined): Verdict {
  const look = describeCommand(object.ref);
  if (condition === undefined)
    return fail(
      check,
      `${quoteRef(object.ref)}: the controller has not reconciled generation ${generationOf(object)}`,
      look,
    );
  const status = condition['status'] === 'False' ? fail : warn;
  return status(check, describeCondition(object, condition), look);
}

function conditionOf({ json }: StoredObject, type: string): JsonRecord | undefined {
  return recordsOf(recordOf(json['status'])['conditions']).find(
    (condition) => condition['type'] === type && !isDefault(condition),
  );
}

/** The CRDs add conditions that wait for a controller (Gateway.status.conditions). */
function isDefault({ message }: JsonRecord): boolean {
  return message === 'Waiting for controller';
}

function generationOf({ json }: StoredObject): number {
  const { generation } = recordOf(json['metadata']);
  return typeof generation === 'number' ? generation : 0;
}
