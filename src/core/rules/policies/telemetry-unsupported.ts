import { ownerOf } from '../../graph/ownership.ts';
import type { Reader } from '../../incremental/reader.ts';
import type { Resource } from '../../resources/resource.ts';
import { gatewayGroup } from '../../schema/index.ts';
import { warned } from '../engine/effects.ts';
import { rule } from '../engine/rule.ts';

export const telemetryUnsupported = rule({
  id: 'telemetry-unsupported',
  kinds: ['XTelemetryPolicy'],
  about: 'dialect',
  summary: 'Sallyport does not support XTelemetryPolicy, so the policy has no effect.',
  effect: warned,
  consequence: { condition: 'Accepted', reason: 'Invalid', scope: 'object' },
  source:
    'Gateway API v1.7.0, "Conformance" (support levels); PolicyConditionAccepted (possible reasons); docs/conformance.md',
  check(policy, read, report) {
    if (isOfOthers(policy, read)) return;
    const { kind } = policy;
    report({
      path: ['kind'],
      value: kind,
      message: `Unsupported kind ${kind}: Sallyport does not support it, so the policy has no effect. Remove it, or use a Gateway of a controller that supports it.`,
    });
  },
});

/** Whether other controllers serve all targets. */
function isOfOthers({ spec = {}, ref: { namespace } }: Resource<'XTelemetryPolicy'>, read: Reader): boolean {
  const { targetRefs = [] } = spec;
  return (
    targetRefs.length > 0 &&
    targetRefs.every(
      ({ group, kind, name = '' }) =>
        group === gatewayGroup &&
        kind === 'Gateway' &&
        ownerOf(read, { group, kind, namespace, name }).type === 'other',
    )
  );
}
