import { backendKindOf } from '../../graph/backends/backend-object.ts';
import { isOwnerKind, ownerKinds, type OwnerKind } from '../../graph/listeners/listener-sets.ts';
import { servedRouteKinds, type ServedRouteKind } from '../../graph/protocols.ts';
import { visitSemantic, type ViewAt } from '../../schema/index.ts';
import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { quote } from '../../text/display.ts';
import { demand, violationsAt, type ReportViolation } from '../engine/demand.ts';
import { denied } from '../engine/effects.ts';
import { referenceUnresolvedAt, routeRules } from '../engine/parts.ts';
import { rule } from '../engine/rule.ts';

export const servicePortMissing = rule({
  id: 'service-port-missing',
  kinds: [...servedRouteKinds, ...ownerKinds],
  summary: 'A reference to a Service has no port.',
  effect: denied,
  consequence: { condition: 'ResolvedRefs', reason: 'BackendNotFound', scope: 'backendRef' },
  varies: ['reason', 'scope'],
  source: 'Gateway API v1.7.0, BackendObjectReference.port ("required when the referent is a Kubernetes Service")',
  check(subject, _read, report) {
    for (const { path, ref } of portlessReferences(subject)) {
      if (!isReadable(subject, path)) continue;
      judge(ref, violationsAt(path, report, referenceUnresolvedAt(path)));
    }
  },
});

type BackendReference = ViewAt<'HTTPRoute', 'spec.rules[].backendRefs[]'>;

/** Returns whether a reference names a Service without a port. */
function lacksPort(ref: BackendReference): boolean {
  return ref.port === undefined && backendKindOf(ref) === 'Service';
}

function judge(ref: BackendReference, report: ReportViolation): void {
  const { name = '' } = ref;
  if (lacksPort(ref))
    report({
      below: ['port'],
      message: `Port is required in a reference to Service ${quote(name)}. Set the port of the Service (not its targetPort), for example port: 80.`,
    });
}

export const servicePort = demand(servicePortMissing, judge);

function isOwner(subject: Resource<ServedRouteKind | OwnerKind>): subject is Resource<OwnerKind> {
  return isOwnerKind(subject.kind);
}

interface ServiceReference {
  readonly path: Path;
  readonly ref: BackendReference;
}

function portlessReferences(subject: Resource<ServedRouteKind | OwnerKind>): readonly ServiceReference[] {
  const found: ServiceReference[] = [];
  const rules = isOwner(subject) ? [] : routeRules(subject);
  for (const {
    rule: { backendRefs },
    path,
  } of rules) {
    backendRefs?.forEach((ref, index) => {
      if (lacksPort(ref)) found.push({ path: [...path, 'backendRefs', index], ref });
    });
  }
  visitSemantic(subject.kind, subject, 'filters', (place, filters) => {
    for (const [index, filter] of filters.entries()) {
      for (const member of ['requestMirror', 'externalAuth'] as const) {
        const ref = filter[member]?.backendRef;
        if (ref !== undefined && lacksPort(ref))
          found.push({ path: [...place.path, index, member, 'backendRef'], ref });
      }
    }
  });
  return found;
}
