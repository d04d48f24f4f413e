import type { AddressProblem, DataPlaneFacts } from '../core/graph/inputs.ts';
import { joinMessages } from '../core/status/conditions.ts';
import { recordOf, recordsOf, textOf, type JsonRecord } from '../core/text/record.ts';
import type { DataPlaneState } from './gateway-data-planes.ts';
import type { WireObject } from './ports.ts';

/** A problem of the data plane of a Gateway. */
export interface DataPlaneProblem {
  /** The reason for Accepted=False as long as nothing else serves the Gateway. `undefined` if the problem is no such reason. */
  readonly refusal?: 'NoResources' | 'NameConflict';
  /** Set if the problem only costs an address. */
  readonly isAboutAddress?: true;
  /** For people, a whole sentence. It is stable while the problem stays the same. */
  readonly message: string;
}

/** The input of the evaluation about the data planes of a Gateway. No problem refuses a Gateway as long as a ready pod serves it. */
export function describeDataPlanes(
  problems: readonly DataPlaneProblem[],
  { ready, remark }: DataPlaneState,
  poolProblem?: AddressProblem,
): DataPlaneFacts | undefined {
  const unassigned = problems.find(({ isAboutAddress }) => isAboutAddress);
  const addressProblem: AddressProblem | undefined =
    poolProblem ?? (unassigned && { reason: 'AddressNotAssigned', message: unassigned.message });
  const refusing = ready > 0 ? [] : problems.filter(({ refusal }) => refusal !== undefined);
  const [first] = refusing;
  if (first?.refusal !== undefined)
    return {
      refusal: { reason: first.refusal, message: joinMessages(refusing.map(({ message }) => message)) },
      remark: '',
    };
  const others = problems.filter((problem) => problem !== unassigned).map(({ message }) => message);
  const text = joinMessages([...others, remark].filter((message) => message !== ''));
  return text === '' && addressProblem === undefined
    ? undefined
    : { remark: text, ...(addressProblem !== undefined && { addressProblem }) };
}

/** Problems in the conditions of a Deployment: rejected pods, or no progress (DeploymentCondition). */
export function deploymentProblems(deployment: WireObject): readonly DataPlaneProblem[] {
  const { namespace = '', name } = deployment.metadata;
  return conditionsOf(deployment).flatMap(({ type, status, reason, message }): DataPlaneProblem[] => {
    const text = sentence(message);
    if (type === 'ReplicaFailure' && status === 'True')
      return [{ refusal: 'NoResources', message: `Deployment "${namespace}/${name}" cannot create pods: ${text}` }];
    if (type === 'Progressing' && reason === 'ProgressDeadlineExceeded')
      return [{ message: `Deployment "${namespace}/${name}" exceeded its progress deadline: ${text}` }];
    return [];
  });
}

/** Why a pod does not start or stay up (PodStatus). */
export function podProblems(pod: WireObject): readonly DataPlaneProblem[] {
  if (pod.metadata['deletionTimestamp'] !== undefined) return [];
  const name = `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
  const unscheduled = conditionsOf(pod).filter(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const containers = recordsOf(recordOf(pod['status'])['containerStatuses']);
  return [
    ...unscheduled.map(({ message }): DataPlaneProblem => ({
      refusal: 'NoResources',
      message: `Pod "${name}" cannot be scheduled: ${sentence(message)}`,
    })),
    ...containers.flatMap((container) => containerProblems(container, name)),
  ];
}

const unpulled: ReadonlySet<unknown> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'ErrImageNeverPull',
  'InvalidImageName',
  'ImageInspectError',
  'RegistryUnavailable',
  'SignatureValidationFailed',
]);
const unstarted: ReadonlySet<unknown> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);

/** Uses our own texts: during retries kubelets alternate between reasons and messages, so a copy would change all the time. */
function containerProblems({ image, state }: JsonRecord, pod: string): readonly DataPlaneProblem[] {
  const { reason } = recordOf(recordOf(state)['waiting']);
  if (unpulled.has(reason))
    return [
      {
        refusal: 'NoResources',
        message: `Pod "${pod}" cannot pull image ${textOf(image)}; see "kubectl describe pod".`,
      },
    ];
  if (unstarted.has(reason))
    return [
      { refusal: 'NoResources', message: `Pod "${pod}" cannot start its containers; see "kubectl describe pod".` },
    ];
  return reason === 'CrashLoopBackOff'
    ? [{ message: `Pod "${pod}" is in CrashLoopBackOff; see "kubectl logs --previous".` }]
    : [];
}

function conditionsOf(object: WireObject): readonly JsonRecord[] {
  return recordsOf(recordOf(object['status'])['conditions']);
}

function sentence(text: unknown): string {
  const words = textOf(text).trimEnd();
  return words.endsWith('.') ? words : `${words}.`;
}
