import { display } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { demand } from '../engine/demand.ts';
import { judgeKind } from './backend-kinds.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendKindUnsupported = backendRule({
  id: 'backend-kind-unsupported',
  outcomes: ['unsupportedKind', 'externalName'],
  summary: 'A backendRef names an unsupported kind.',
  reason: 'InvalidKind',
  source: 'Gateway API v1.7.0, BackendObjectReference.kind; RouteReasonInvalidKind; CVE-2021-25740',
  describe(node, outcome, loss) {
    if (outcome.type === 'externalName') {
      return {
        value: 'ExternalName',
        about: 'dialect',
        message: `${serviceName(node)} has the unsupported type ExternalName: it could point anywhere (CVE-2021-25740). Use a Service with endpoints.`,
      };
    }
    const { group, kind } = node.target;
    const near = group === '' ? nearest(kind, ['Service']) : undefined;
    const requested = display(group === '' ? kind : `${group}/${kind}`);
    return {
      value: requested,
      about: 'dialect',
      message: `Unsupported backend kind ${requested}: ${loss}. ${near === undefined ? 'Use kind: Service and an empty group.' : `Did you mean ${near}?`}`,
    };
  },
});

/** Finds misspelled kinds in evaluated routes, even if only the route itself is judged. */
export const backendKindOfEvaluated = demand(backendKindUnsupported, judgeKind, 'misspelt');
