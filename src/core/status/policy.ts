import { isService } from '../graph/backend-policies.ts';
import { gatewayGroup, installationCell, readObject } from '../graph/inputs.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewaysOfService, ownerRefusal, partProblems, type PartProblem } from '../rules/validity.ts';
import { conditionsAt, isFalse, isTrue, joinMessages, type Condition, type Outcome } from './conditions.ts';

export interface PolicyAncestorStatus {
  readonly ancestorRef: { readonly group: string; readonly kind: string; readonly namespace: string; readonly name: string };
  readonly controllerName: string;
  readonly conditions: readonly Condition[];
}

export interface PolicyStatus {
  readonly ancestors: readonly PolicyAncestorStatus[];
}

/** How many ancestors the API has room for (PolicyStatus.ancestors). */
const mostAncestors = 16;

/**
 * Our entries of a BackendTLSPolicy's status: one for each Gateway of ours with routes to a Service that it targets;
 * `undefined` where there is none (PolicyStatus; GEP-713).
 */
export function policyStatus(read: Reader, namespace: string, name: string): PolicyStatus | undefined {
  const policy = readObject(read, 'BackendTLSPolicy', namespace, name);
  const targets = (policy?.spec?.targetRefs ?? []).map((target) => (isService(target) ? read.list(gatewaysOfService, `${namespace}/${target.name ?? ''}`) : []));
  const gateways = [...new Set(targets.flat())].sort().slice(0, mostAncestors);
  if (policy === undefined || gateways.length === 0) return undefined;
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  const problems = read.query(partProblems, 'BackendTLSPolicy', namespace, name);
  const resolved = references(problems);
  return {
    ancestors: gateways.map((gateway) => {
      const [gatewayNamespace = '', gatewayName = ''] = gateway.split('/');
      const concerning = problems.filter(({ part }) => part === -1 || targets[part]?.includes(gateway));
      return {
        ancestorRef: { group: gatewayGroup, kind: 'Gateway', namespace: gatewayNamespace, name: gatewayName },
        controllerName,
        conditions: conditionsAt('policy', policy.meta.generation, { Accepted: acceptance(concerning), ResolvedRefs: resolved }),
      };
    }),
  };
}

/** @param problems of the policy itself, and of the targets through which it reaches a Gateway */
function acceptance(problems: readonly PartProblem[]): Outcome {
  const against = ownerRefusal(problems) ?? problems.find(({ condition }) => condition === 'Accepted');
  return against === undefined ? isTrue('Accepted') : isFalse(against.reason, against.message);
}

function references(problems: readonly PartProblem[]): Outcome {
  const unresolved = problems.filter(({ condition }) => condition === 'ResolvedRefs');
  const [first] = unresolved;
  return first === undefined ? isTrue('ResolvedRefs') : isFalse(first.reason, joinMessages(unresolved.map(({ message }) => message)));
}
