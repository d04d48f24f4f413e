import { display } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { demand } from '../engine/demand.ts';
import { judgeKind, meantBy } from './backend-kinds.ts';
import { backendRule, serviceName } from './backend-references.ts';

export const backendKindUnsupported = backendRule({
  id: 'backend-kind-unsupported',
  outcomes: ['unsupportedKind', 'notInstalled', 'externalName'],
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
    if (outcome.type === 'notInstalled') {
      return {
        value: display(`${group}/${kind}`),
        about: 'dialect',
        message: `Unsupported backend kind ${display(`${group}/${kind}`)}: its CustomResourceDefinition is not installed in this cluster, so ${loss}. ${sourceOf(kind)}, or use kind: Service.`,
      };
    }
    const near = nearestOf(group, kind);
    const requested = display(group === '' ? kind : `${group}/${kind}`);
    return {
      value: requested,
      about: 'dialect',
      message: `Unsupported backend kind ${requested}: ${loss}. ${near === undefined ? 'Use kind: Service and an empty group.' : `Did you mean ${near}?`}`,
    };
  },
});

function sourceOf(kind: string): string {
  return kind === 'XBackend'
    ? 'Install the experimental channel of the Gateway API'
    : 'Install the Multi-Cluster Services API';
}

/** The kind, or the group of the kind, that was probably meant. */
function nearestOf(group: string, kind: string): string | undefined {
  if (kind === 'ServiceImport' || kind === 'XBackend' || kind === 'Backend') return meantBy(group, kind);
  return group === '' ? nearest(kind, ['Service']) : undefined;
}

/** Finds misspelled kinds in evaluated routes, even if only the route itself is judged. */
export const backendKindOfEvaluated = demand(backendKindUnsupported, judgeKind, 'misspelt');
