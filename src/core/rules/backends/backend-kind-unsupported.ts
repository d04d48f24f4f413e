import { display } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { demand } from '../engine/demand.ts';
import { judgeKind } from './backend-kinds.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendKindUnsupported = backendRule({
  id: 'backend-kind-unsupported',
  outcomes: ['unsupportedKind', 'externalName'],
  summary: 'A backendRef names a kind that cannot be forwarded to.',
  reason: 'InvalidKind',
  source: 'Gateway API v1.7.0, BackendObjectReference.kind; RouteReasonInvalidKind; CVE-2021-25740',
  describe(node, outcome, loss) {
    if (outcome.type === 'externalName') {
      return { value: 'ExternalName', about: 'dialect', message: `${serviceName(node)} is of type ExternalName, which is refused because it could point anywhere (CVE-2021-25740). Use a Service with endpoints.` };
    }
    const { group, kind } = node.target;
    const near = group === '' ? nearest(kind, ['Service']) : undefined;
    const asked = display(group === '' ? kind : `${group}/${kind}`);
    return { value: asked, about: 'dialect', message: `Backends of kind ${asked} are not supported, so ${loss}. ${near === undefined ? 'Write kind: Service (and leave group empty).' : `Did you mean ${near}?`}` };
  },
});

/** Of routes that are evaluated, for who sees a route alone. */
export const backendKindOfEvaluated = demand(backendKindUnsupported, judgeKind, 'misspelt');
