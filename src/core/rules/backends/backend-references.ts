import { backendPlaces, backends, type BackendNode, type BackendOutcome, type BackendOutcomeOf } from '../../graph/backends.ts';
import { failureOf, servedRouteKinds } from '../../graph/protocols.ts';
import type { Reader } from '../../incremental/reader.ts';
import { display } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { warned } from '../engine/effects.ts';
import { referenceUnresolvedAt } from '../engine/parts.ts';
import { rule, type Finding } from '../engine/rule.ts';

/** Declares the rule for some ways in which a backendRef does not resolve: backends may be applied after their routes. */
function backendRule<const T extends BackendOutcome['type']>(declaration: {
  readonly id: string;
  readonly about?: 'dialect';
  readonly outcomes: readonly T[];
  readonly summary: string;
  readonly reason: string;
  readonly source: string;
  /** `loss` ends a sentence: what becomes of the requests meanwhile. */
  readonly describe: (node: BackendNode, outcome: BackendOutcomeOf<T>, loss: string) => Pick<Finding, 'message' | 'value' | 'about'>;
}) {
  const { id, about, outcomes, summary, reason, source, describe } = declaration;
  return rule({
    id,
    kinds: servedRouteKinds,
    ...(about === undefined ? {} : { about }),
    summary,
    effect: warned,
    consequence: { condition: 'ResolvedRefs', reason, scope: 'backendRef' },
    source,
    check(route, read: Reader, report) {
      for (const { path, node, outcome } of backendPlaces(read.query(backends, route.kind, route.ref.namespace, route.ref.name), outcomes)) {
        const consequence = referenceUnresolvedAt(path, reason);
        const loss = consequence.scope === 'mirror' ? 'nothing is mirrored there' : `its share of requests is answered ${failureOf[route.kind]}`;
        report({ path, consequence, ...describe(node, outcome, loss) });
      }
    },
  });
}

function serviceName({ target }: BackendNode): string {
  return `Service ${target.namespace}/${target.name}`;
}

export const backendNotFound = backendRule({
  id: 'backend-not-found',
  outcomes: ['absent', 'portAbsent'],
  summary: 'A backendRef names a Service, or a port of a Service, that does not exist.',
  reason: 'BackendNotFound',
  source: 'Gateway API v1.7.0, BackendObjectReference; RouteReasonBackendNotFound',
  describe(node, outcome, loss) {
    if (outcome.type === 'absent') {
      return { value: `${node.target.namespace}/${node.target.name}`, message: `${serviceName(node)} has not been seen. Check name and namespace, or apply it; until then ${loss}.` };
    }
    const cure = outcome.ports.length === 0 ? 'It has none: name another Service' : `Its ports are ${outcome.ports.join(', ')}: write one of them (no targetPort)`;
    return { value: String(node.target.port), message: `${serviceName(node)} has no port ${node.target.port}. ${cure}; until then ${loss}.` };
  },
});

export const backendNotPermitted = backendRule({
  id: 'backend-not-permitted',
  outcomes: ['notPermitted'],
  summary: 'A backendRef crosses namespaces without a ReferenceGrant.',
  reason: 'RefNotPermitted',
  source: 'Gateway API v1.7.0, ReferenceGrant; RouteReasonRefNotPermitted',
  describe: (node, _outcome, loss) => ({
    value: `${node.target.namespace}/${node.target.name}`,
    message: `${serviceName(node)} is in another namespace, where a ReferenceGrant must allow this route to refer to it; until then ${loss}.`,
  }),
});

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

export const backendProtocolUnsupported = backendRule({
  id: 'backend-protocol-unsupported',
  about: 'dialect',
  outcomes: ['unsupportedProtocol', 'policyMissing'],
  summary: 'The Service port speaks a protocol that this route cannot be forwarded with.',
  reason: 'UnsupportedProtocol',
  source: 'GEP-1911; RouteReasonUnsupportedProtocol',
  describe: (node, outcome, loss) => ({
    value: display(outcome.protocol),
    message: `Port ${node.target.port} of ${serviceName(node)} speaks ${display(outcome.protocol)}, ${cureOf(outcome.type, loss)}`,
  }),
});

function cureOf(outcome: 'unsupportedProtocol' | 'policyMissing', loss: string): string {
  if (outcome === 'unsupportedProtocol') return `which this route cannot be forwarded with; ${loss}. Use a TCP port whose appProtocol is unset, http or kubernetes.io/h2c.`;
  return `and nobody says how to check its certificate; ${loss}. Add a BackendTLSPolicy that targets the Service.`;
}

export const backendReferenceRules = [backendNotFound, backendNotPermitted, backendKindUnsupported, backendProtocolUnsupported];
