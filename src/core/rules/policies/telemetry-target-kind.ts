import { gatewayGroup, type ViewAt } from '../../schema/index.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';

type Reference = ViewAt<'XTelemetryPolicy', 'spec.targetRefs[]'>;

export const telemetryTargetKind = unenforcedRule(
  {
    id: 'telemetry-target-kind',
    summary: 'An XTelemetryPolicy targets something other than a Gateway.',
    effect: deniedWhenStrict,
    source: 'Gateway API v1.7.0, TelemetryPolicySpec.targetRefs (Gateway is core); GEP-4768',
  },
  function judge({ group = '', kind = '' }: Reference, report) {
    if (group === gatewayGroup && kind === 'Gateway') return;
    report({
      below: ['kind'],
      value: display(group === '' ? kind : `${group}/${kind}`),
      message: `Target kind ${quote(kind)} of group ${quote(group)} is not portable: implementations are required to support only Gateway. Use kind: Gateway and group: gateway.networking.k8s.io.`,
    });
  },
);
