import { gatewayGroup, installationCell, readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import {
  gatewaysOfPolicy,
  gatewaysOfTarget,
  maxAncestors,
  ownerRefusal,
  partProblems,
  type PartProblem,
} from '../rules/engine/validity.ts';
import {
  conditionsAt,
  isFalse,
  isTrue,
  joinMessages,
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
 * Our entries in the status of a BackendTLSPolicy: one for each Gateway that we manage with routes to a backend that it
 * targets, the oldest first; `undefined` if there is none (PolicyStatus; GEP-713). Entries beyond `maxAncestors` come last.
 */
export function policyStatus(read: Reader, namespace: string, name: string): PolicyStatus | undefined {
  const policy = readObject(read, 'BackendTLSPolicy', namespace, name);
  const targets = (policy?.spec?.targetRefs ?? []).map((target) => gatewaysOfTarget(read, target, namespace));
  const gateways = read.query(gatewaysOfPolicy, namespace, name);
  if (policy === undefined || gateways.length === 0) return undefined;
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  const problems = read.query(partProblems, 'BackendTLSPolicy', namespace, name);
  const resolved = references(problems);
  const leftOut = gateways.slice(maxAncestors);
  return {
    ancestors: gateways.map((gateway, position) => {
      const concerning = problems.filter(({ part }) => part === -1 || targets[part]?.includes(gateway));
      return gatewayEntry(gateway, {
        controllerName,
        generation: policy.meta.generation,
        outcomes: {
          Accepted: position < maxAncestors ? acceptance(concerning, leftOut) : withoutRoom,
          ResolvedRefs: resolved,
        },
      });
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
  const [namespace = '', name = ''] = gateway.split('/');
  return {
    ancestorRef: { group: gatewayGroup, kind: 'Gateway', namespace, name },
    controllerName,
    conditions: conditionsAt('policy', generation, outcomes),
  };
}

/** The outcome for a Gateway beyond `maxAncestors`. It is reported by an Event instead of a status. */
const withoutRoom = isFalse(
  'StatusFull',
  `The status of the policy lists at most ${maxAncestors} Gateways, the oldest first. Requests from this Gateway to the Services of the policy get a 500. Use separate Services for this Gateway.`,
);

/**
 * Returns the condition Accepted for a Gateway.
 *
 * @param problems problems of the policy itself, and of the targets through which it reaches a Gateway
 * @param leftOut other Gateways that the policy cannot serve
 */
export function acceptance(problems: readonly PartProblem[], leftOut: readonly string[]): Outcome {
  const against = ownerRefusal(problems) ?? problems.find(({ condition }) => condition === 'Accepted');
  if (against !== undefined) return isFalse(against.reason, against.message);
  if (leftOut.length === 0) return isTrue('Accepted');
  const more = leftOut.length > shown ? ` and ${leftOut.length - shown} more` : '';
  return isTrue(
    'Accepted',
    `The status lists at most ${maxAncestors} Gateways. Requests to the Services get a 500 from these Gateways: ${leftOut.slice(0, shown).join(', ')}${more}.`,
  );
}

/** Maximum number of Gateways that a message lists. */
const shown = 3;

/** Returns the condition ResolvedRefs from the problems of an object. */
export function references(problems: readonly PartProblem[]): Outcome {
  const unresolved = problems.filter(({ condition }) => condition === 'ResolvedRefs');
  const [first] = unresolved;
  return first === undefined
    ? isTrue('ResolvedRefs')
    : isFalse(first.reason, joinMessages(unresolved.map(({ message }) => message)));
}
