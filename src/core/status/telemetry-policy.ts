import { installationCell, readObject } from '../graph/inputs.ts';
import { ownerOf } from '../graph/ownership.ts';
import type { Reader } from '../incremental/reader.ts';
import { gatewaysByAge, maxAncestors } from '../rules/engine/backend-users.ts';
import { partProblems } from '../rules/engine/validity.ts';
import { gatewayGroup } from '../schema/index.ts';
import { acceptance, gatewayEntry, type PolicyStatus } from './policy.ts';
import { qualifiedName } from '../resources/reference.ts';

/**
 * Our entries in the status of an XTelemetryPolicy: one for each Gateway of ours that it targets, the oldest first; `undefined` if
 * there is none (PolicyStatus; GEP-713). The policy is not accepted, because Sallyport does not serve the kind.
 */
export function telemetryPolicyStatus(read: Reader, namespace: string, name: string): PolicyStatus | undefined {
  const policy = readObject(read, 'XTelemetryPolicy', namespace, name);
  const gateways = gatewaysByAge(read, targetedGateways(read, namespace, name));
  if (policy === undefined || gateways.length === 0) return undefined;
  const outcomes = { Accepted: acceptance(read.query(partProblems, 'XTelemetryPolicy', namespace, name)) };
  const controllerName = read.input(installationCell)?.controllerName ?? '';
  return {
    ancestors: gateways
      .slice(0, maxAncestors)
      .map((gateway) => gatewayEntry(gateway, { controllerName, generation: policy.meta.generation, outcomes })),
  };
}

/**
 * Returns our Gateways (`namespace/name`) that an XTelemetryPolicy targets. It can target only Gateways of its own namespace
 * (TelemetryPolicySpec.targetRefs).
 */
function targetedGateways(read: Reader, namespace: string, name: string): readonly string[] {
  const targets = readObject(read, 'XTelemetryPolicy', namespace, name)?.spec?.targetRefs ?? [];
  return targets.flatMap(({ group, kind, name: gateway }) =>
    group === gatewayGroup &&
    kind === 'Gateway' &&
    gateway !== undefined &&
    ownerOf(read, { group, kind, namespace, name: gateway }).type === 'ours'
      ? [qualifiedName({ namespace, name: gateway })]
      : [],
  );
}
