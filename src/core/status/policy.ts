import { ofQualifiedName } from '../resources/reference.ts';
import { targetsOf, type BackendPolicyKind } from '../graph/backends/backend-policies.ts';
import { installationCell, readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewaysOfPolicy, gatewaysOfTarget, maxAncestors } from '../rules/engine/backend-users.ts';
import { ownerRefusal, partProblems } from '../rules/engine/validity.ts';
import type { PartProblem } from '../rules/engine/part-problem.ts';
import { gatewayGroup } from '../schema/index.ts';
import {
  conditionsAt,
  isFalse,
  isTrue,
  resolvedRefs,
  type Condition,
  type Outcome,
  type Outcomes,
} from './conditions.ts';

export interface PolicyAncestorStatus {
  readonly ancestorRef: {
    readonly group: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
  };
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface PolicyStatus {
  readonly ancestors: readonly PolicyAncestorStatus[];
}

/**
 * Our entries in the status of a policy: one for each Gateway that we manage with routes to a backend that it targets, and to
 * which it applies, the oldest first; `undefined` if there is none (PolicyStatus; GEP-713). Entries beyond `maxAncestors` come last.
 */
export function policyStatus(
  read: Reader,
  kind: BackendPolicyKind,
  namespace: string,
  name: string,
): PolicyStatus | undefined {
  const policy = readObject(read, kind, namespace, name);
  const targets = targetsOf(read, kind, namespace, name).map((target) =>
    gatewaysOfTarget(read, target, { kind, namespace }),
  );
  const gateways = read.query(gatewaysOfPolicy, kind, namespace, name);
  if (policy === undefined || gateways.length === 0) return undefined;
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  const problems = read.query(partProblems, kind, namespace, name);
  // An XBackendTrafficPolicy refers to nothing but its targets.
  const resolved = kind === 'BackendTLSPolicy' ? { ResolvedRefs: resolvedRefs(problems) } : {};
  const remark = omissionRemark(kind, gateways.slice(maxAncestors));
  const common = { controllerName, generation: policy.meta.generation };
  // Of hundreds of Gateways, most may have no room. They share their conditions.
  const left = conditionsAt('policy', policy.meta.generation, { Accepted: withoutRoom(kind), ...resolved });
  return {
    ancestors: gateways.map((gateway, position) => {
      if (position >= maxAncestors) return { ancestorRef: ancestorRefOf(gateway), controllerName, conditions: left };
      const concerning = problems.filter(({ part }) => part === -1 || targets[part]?.includes(gateway));
      return gatewayEntry(gateway, { ...common, outcomes: { Accepted: acceptance(concerning, remark), ...resolved } });
    }),
  };
}

/** Returns the entry for a Gateway (`namespace/name`). */
export function gatewayEntry(
  gateway: string,
  {
    controllerName,
    generation,
    outcomes,
  }: { readonly controllerName: string; readonly generation: number; readonly outcomes: Outcomes<'policy'> },
): PolicyAncestorStatus {
  return {
    ancestorRef: ancestorRefOf(gateway),
    controllerName,
    conditions: conditionsAt('policy', generation, outcomes),
  };
}

function ancestorRefOf(gateway: string): PolicyAncestorStatus['ancestorRef'] {
  const { namespace, name } = ofQualifiedName(gateway);
  return { group: gatewayGroup, kind: 'Gateway', namespace, name };
}

/** The outcome for a Gateway beyond `maxAncestors`. It is reported by an Event instead of a status. */
function withoutRoom(kind: BackendPolicyKind): Outcome {
  return isFalse(
    'StatusFull',
    `The status of the policy lists at most ${maxAncestors} Gateways, the oldest first. ${omission[kind].ofOne} Use separate Services for this Gateway.`,
  );
}

/** The result for Gateways beyond `maxAncestors`. */
const omission: Readonly<Record<BackendPolicyKind, { readonly ofOne: string; readonly ofMany: string }>> = {
  BackendTLSPolicy: {
    ofOne: 'Requests from this Gateway to the Services of the policy get a 500.',
    ofMany: 'Requests to the Services get a 500 from these Gateways',
  },
  XBackendTrafficPolicy: {
    ofOne: 'The policy does not apply to requests from this Gateway.',
    ofMany: 'The policy does not apply to requests from these Gateways',
  },
};

/**
 * Returns the condition Accepted for a Gateway.
 *
 * @param problems problems of the object itself, and of the targets through which it reaches a Gateway
 * @param remark the message if it is accepted
 */
export function acceptance(problems: readonly PartProblem[], remark?: string): Outcome {
  const against = ownerRefusal(problems) ?? problems.find(({ condition }) => condition === 'Accepted');
  return against === undefined ? isTrue('Accepted', remark) : isFalse(against.reason, against.message);
}

/** Returns the message about other Gateways to which a policy does not apply; `undefined` if there are none. */
function omissionRemark(kind: BackendPolicyKind, leftOut: readonly string[]): string | undefined {
  if (leftOut.length === 0) return undefined;
  const more = leftOut.length > shown ? ` and ${leftOut.length - shown} more` : '';
  return `The status lists at most ${maxAncestors} Gateways. ${omission[kind].ofMany}: ${leftOut.slice(0, shown).join(', ')}${more}.`;
}

/** Maximum number of Gateways that a message lists. */
const shown = 3;
