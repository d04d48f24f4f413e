import { decisionOf } from '../core/admission/decide.ts';
import { policyFor, type KnownBundle, type Settings } from '../core/admission/settings.ts';
import type { Steps } from '../core/text/steps.ts';
import type { AdmissionRequest, AdmissionVerdict, Allowed } from '../core/admission/types.ts';
import { labelsOfNamespace } from '../core/graph/namespaces.ts';
import type { Kernel } from '../core/incremental/index.ts';
import { isProbe, probeDenial } from './configuration/probe.ts';
import { monotonicNow } from '../time/clock.ts';

export interface DecisionSurroundings {
  readonly kernel: Kernel;
  readonly settings: () => Settings;
  /** The installed bundle of a resource, e.g. `httproutes`. */
  readonly bundleOf: (group: string, resource: string) => KnownBundle;
  /** The current day in UTC, `2026-11-23`. */
  readonly today: () => string;
}

const exempt: Allowed = { allowed: true, warnings: [], findings: [], auditAnnotations: { exempt: 'true' } };

/** Decides one write step by step, with the current settings and bundle. Has no side effects. */
export function* decideInCluster(
  request: AdmissionRequest,
  { kernel, settings, bundleOf, today }: DecisionSurroundings,
): Steps<AdmissionVerdict> {
  if (isProbe(request)) return probeDenial;
  const { group, resource, kind, namespace, userInfo } = request;
  const policy = policyFor(
    settings(),
    { kind, namespace, namespaceLabels: labelsOfNamespace(kernel.read, namespace), ...userInfo, today: today() },
    bundleOf(group, resource),
  );
  if (policy === 'exempt') return exempt;
  // Half of the time is for reading other objects; the response needs the rest.
  const deadline = monotonicNow() + request.budgetMs / 2;
  return yield* decisionOf(request, {
    kernel,
    policy,
    mayContinue: () => monotonicNow() < deadline,
  });
}
