import type { AddressProblem, DataPlaneFacts } from '../core/graph/inputs.ts';
import { joinMessages } from '../core/status/conditions.ts';
import { isRecord, listOf, recordOf, type JsonRecord } from '../core/text/record.ts';
import type { DataPlaneState } from './gateway-data-planes.ts';
import type { WireObject } from './ports.ts';

/** What is wrong with what shall serve a Gateway. */
export interface DataPlaneProblem {
  /** Why the Gateway cannot be accepted as long as nothing else serves it; nothing where that is no reason. */
  readonly refusal?: 'NoResources' | 'NameConflict';
  /** For people, a whole sentence. Does not change while nothing else does. */
  readonly message: string;
}

/** What evaluation must know of the data planes of a Gateway: nothing refuses it as long as some pod serves it. */
export function describeDataPlanes(problems: readonly DataPlaneProblem[], { ready, remark }: DataPlaneState, addressProblem?: AddressProblem): DataPlaneFacts | undefined {
  const refusing = ready > 0 ? [] : problems.filter(({ refusal }) => refusal !== undefined);
  const [first] = refusing;
  if (first?.refusal !== undefined) return { refusal: { reason: first.refusal, message: joinMessages(refusing.map(({ message }) => message)) }, remark: '' };
  const text = joinMessages([...problems.map(({ message }) => message), remark].filter((message) => message !== ''));
  return text === '' && addressProblem === undefined ? undefined : { remark: text, ...(addressProblem !== undefined && { addressProblem }) };
}

/** What the API server says of a Deployment whose pods it does not want, or that makes no progress (DeploymentCondition). */
export function deploymentProblems(deployment: WireObject): readonly DataPlaneProblem[] {
  const { namespace = '', name } = deployment.metadata;
  return conditionsOf(deployment).flatMap(({ type, status, reason, message }): DataPlaneProblem[] => {
    const text = sentence(message);
    if (type === 'ReplicaFailure' && status === 'True') return [{ refusal: 'NoResources', message: `Deployment "${namespace}/${name}" cannot create pods: ${text}` }];
    if (type === 'Progressing' && reason === 'ProgressDeadlineExceeded') return [{ message: `Deployment "${namespace}/${name}" exceeded its progress deadline: ${text}` }];
    return [];
  });
}

/** Why a pod does not start, or not for long (PodStatus). */
export function podProblems(pod: WireObject): readonly DataPlaneProblem[] {
  if (pod.metadata['deletionTimestamp'] !== undefined) return [];
  const name = `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
  const unscheduled = conditionsOf(pod).filter(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const containers = listOf(recordOf(pod['status'])['containerStatuses']).filter(isRecord);
  return [
    ...unscheduled.map(({ message }): DataPlaneProblem => ({ refusal: 'NoResources', message: `Pod "${name}" cannot be scheduled: ${sentence(message)}` })),
    ...containers.flatMap((container) => containerProblems(container, name)),
  ];
}

const unpulled: ReadonlySet<unknown> = new Set(['ErrImagePull', 'ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName', 'ImageInspectError', 'RegistryUnavailable', 'SignatureValidationFailed']);
const unstarted: ReadonlySet<unknown> = new Set(['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError']);

/** Kubelets alternate between reasons and texts while they try again, so that their own words would change all the time. */
function containerProblems({ image, state }: JsonRecord, pod: string): readonly DataPlaneProblem[] {
  const { reason } = recordOf(recordOf(state)['waiting']);
  if (unpulled.has(reason)) return [{ refusal: 'NoResources', message: `Pod "${pod}" cannot pull image ${textOf(image)}; see "kubectl describe pod".` }];
  if (unstarted.has(reason)) return [{ refusal: 'NoResources', message: `Pod "${pod}" cannot start its containers; see "kubectl describe pod".` }];
  return reason === 'CrashLoopBackOff' ? [{ message: `Pod "${pod}" is in CrashLoopBackOff; see "kubectl logs --previous".` }] : [];
}

function conditionsOf(object: WireObject): readonly JsonRecord[] {
  return listOf(recordOf(object['status'])['conditions']).filter(isRecord);
}

function sentence(text: unknown): string {
  return textOf(text).replace(/\.?\s*$/, '.');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
