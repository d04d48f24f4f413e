import { targetedBackend } from '../../graph/backends/backend-policies.ts';
import { display, quote } from '../../text/display.ts';
import { unenforcedRule } from '../engine/demand.ts';
import { warned } from '../engine/effects.ts';
import type { Reference } from './backend-tls-details.ts';

export const policyTargetKind = unenforcedRule(
  {
    id: 'policy-target-kind',
    summary: 'A policy for backends targets something other than a Service or ServiceImport.',
    effect: warned,
    source:
      'Gateway API v1.7.0, BackendTLSPolicySpec.targetRefs (Service is core, other kinds are implementation-specific); BackendTrafficPolicySpec.targetRefs ("Backends ... are the only valid API target references")',
  },
  function judge({ group = '', kind = '' }: Reference, report) {
    if (targetedBackend({ group, kind }, '') !== undefined) return;
    const cure =
      kind === 'Service'
        ? 'Use group: ""'
        : 'Use kind: Service and group: "", unless your implementation documents this kind';
    report({
      below: ['kind'],
      value: display(group === '' ? kind : `${group}/${kind}`),
      message: `Target kind ${quote(kind)} of group ${quote(group)} is not portable: implementations are required to support only Service, and Sallyport ignores the target. ${cure}.`,
    });
  },
);
