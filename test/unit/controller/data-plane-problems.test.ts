import { describe, expect, test } from '@jest/globals';
import {
  describeDataPlanes,
  deploymentProblems,
  podProblems,
  type DataPlaneProblem,
} from '../../../src/controller/data-plane-problems.ts';

function pod(status: unknown, metadata: object = {}) {
  return { metadata: { namespace: 'shop', name: 'web-x', ...metadata }, status };
}

function waiting(reason: string) {
  return {
    containerStatuses: [{ image: 'example.com/proxy:1', state: { waiting: { reason, message: `about ${reason}` } } }],
  };
}

describe('problems of pods', () => {
  test('one that no node has room for', () => {
    const conditions = [
      {
        type: 'PodScheduled',
        status: 'False',
        reason: 'Unschedulable',
        message: '0/1 nodes are available: 1 Insufficient memory.',
      },
    ];
    expect(podProblems(pod({ conditions }))).toEqual([
      {
        refusal: 'NoResources',
        message: 'Pod "shop/web-x" cannot be scheduled: 0/1 nodes are available: 1 Insufficient memory.',
      },
    ]);
  });

  test('an image that cannot be pulled is told in the same words while kubelets try again', () => {
    const [first, then] = [podProblems(pod(waiting('ErrImagePull'))), podProblems(pod(waiting('ImagePullBackOff')))];
    expect(first).toEqual([
      {
        refusal: 'NoResources',
        message: 'Pod "shop/web-x" cannot pull image example.com/proxy:1; see "kubectl describe pod".',
      },
    ]);
    expect(then).toEqual(first);
  });

  test('one that ends again and again is no question of capacity', () => {
    expect(podProblems(pod(waiting('CrashLoopBackOff')))).toEqual([
      { message: 'Pod "shop/web-x" is in CrashLoopBackOff; see "kubectl logs --previous".' },
    ]);
  });

  test('none while it starts, runs or ends', () => {
    expect(podProblems(pod(waiting('ContainerCreating')))).toEqual([]);
    expect(
      podProblems(
        pod({
          conditions: [{ type: 'PodScheduled', status: 'True' }],
          containerStatuses: [{ state: { running: {} } }],
        }),
      ),
    ).toEqual([]);
    expect(podProblems(pod(waiting('ErrImagePull'), { deletionTimestamp: '2026-01-01T00:00:00Z' }))).toEqual([]);
  });

  test.each([undefined, null, 7, [], { conditions: [null, 7], containerStatuses: [null, { state: 7 }] }])(
    'any status can be read: %j',
    (status) => {
      expect(podProblems(pod(status))).toEqual([]);
      expect(deploymentProblems(pod(status))).toEqual([]);
    },
  );
});

describe('problems of Deployments', () => {
  test('a quota, and a rollout that is stuck', () => {
    const conditions = [
      {
        type: 'ReplicaFailure',
        status: 'True',
        reason: 'FailedCreate',
        message: 'pods "x" is forbidden: exceeded quota: few',
      },
      {
        type: 'Progressing',
        status: 'False',
        reason: 'ProgressDeadlineExceeded',
        message: 'ReplicaSet "x" has timed out progressing.',
      },
      { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message: 'no' },
    ];
    expect(deploymentProblems(pod({ conditions }))).toEqual([
      {
        refusal: 'NoResources',
        message: 'Deployment "shop/web-x" cannot create pods: pods "x" is forbidden: exceeded quota: few.',
      },
      { message: 'Deployment "shop/web-x" exceeded its progress deadline: ReplicaSet "x" has timed out progressing.' },
    ]);
  });
});

describe('what evaluation is told', () => {
  const quota: DataPlaneProblem = { refusal: 'NoResources', message: 'No room.' };
  const crash: DataPlaneProblem = { message: 'It crashes.' };

  test('nothing where all is well', () => {
    expect(describeDataPlanes([], { ready: 1, late: 0, outdated: 0, remark: '' })).toBeUndefined();
  });

  test('a refusal only while nothing serves', () => {
    expect(describeDataPlanes([crash, quota], { ready: 0, late: 0, outdated: 0, remark: 'Late.' })).toEqual({
      refusal: { reason: 'NoResources', message: 'No room.' },
      remark: '',
    });
    expect(describeDataPlanes([crash, quota], { ready: 1, late: 0, outdated: 0, remark: 'Late.' })).toEqual({
      remark: 'It crashes. No room. Late.',
    });
    expect(describeDataPlanes([crash], { ready: 0, late: 0, outdated: 0, remark: '' })).toEqual({
      remark: 'It crashes.',
    });
  });
});
