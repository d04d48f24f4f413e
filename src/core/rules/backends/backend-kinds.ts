import { display, quote } from '../../text/display.ts';
import { nearest } from '../../text/suggest.ts';
import { backendKindUnsupported } from './backend-references.ts';
import { demand, unenforcedRule, type ReportViolation } from '../engine/demand.ts';
import { deniedWhenStrict, warned } from '../engine/effects.ts';
import type { RuleFrame } from '../engine/rule.ts';
import type { WholeObject } from '../engine/written-object.ts';

// References to backends, of whatever kind.

interface BackendReference {
  readonly group?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
}

const experimentalGroup = 'gateway.networking.x-k8s.io';

/** References of kinds that are evaluated are resolved, which tells the same and more. */
export const backendKindMisspelt = unenforcedRule({
  id: 'backend-kind-misspelt',
  summary: 'Group and kind of a reference to a backend name nothing, but are close to something.',
  effect: warned,
  source: 'Gateway API v1.7.0, BackendObjectReference.group and .kind; GEP-4894',
}, judgeKind);

/** Of routes that are evaluated, for who sees a route alone. */
export const backendKindOfEvaluated = demand(backendKindUnsupported.id, judgeKind, 'misspelt');

function judgeKind({ group = '', kind = 'Service' }: BackendReference, report: ReportViolation): void {
  const meant = meantBy(group, kind);
  if (meant === undefined) return;
  report({ below: ['kind'], value: display(group === '' ? kind : `${group}/${kind}`), message: `There is no kind ${quote(kind)} in the group ${quote(group)}. Did you mean ${meant}?` });
}

/** What a reference to a kind that does not exist was probably to name; `undefined` where it may exist. */
export function meantBy(group: string, kind: string): string | undefined {
  if (kind === 'Service' && (group === 'core' || group === 'v1' || group.startsWith('gateway.networking.'))) return 'kind: Service with group: ""';
  if (group === '' && kind !== 'Service') return nearest(kind, ['Service']) === undefined ? undefined : 'kind: Service';
  if (kind === 'Backend' && group.startsWith('gateway.networking.')) return `kind: XBackend with group: ${experimentalGroup}`;
  return kind === 'XBackend' && group !== experimentalGroup ? `group: ${experimentalGroup}` : undefined;
}

/** No ReferenceGrant is defined for them. */
export const backendOfOtherNamespace: RuleFrame = {
  id: 'backend-of-other-namespace',
  summary: 'A reference to an XBackend leads to another namespace, which nothing can permit.',
  effect: deniedWhenStrict,
  source: 'GEP-4894, Backend resource (must be in the namespace of those that refer to it)',
};

interface Filter {
  readonly requestMirror?: { readonly backendRef?: BackendReference };
  readonly externalAuth?: { readonly backendRef?: BackendReference };
}

interface RouteRule {
  readonly filters?: readonly Filter[];
  readonly backendRefs?: readonly (BackendReference & { readonly filters?: readonly Filter[] })[];
}

type Path = readonly (string | number)[];

function judgeReference(ref: BackendReference, below: Path, own: string, report: ReportViolation): void {
  const { kind, group, namespace = own } = ref;
  if (kind !== 'XBackend' || group !== experimentalGroup || namespace === own) return;
  report({ below: [...below, 'namespace'], value: display(namespace), message: `The XBackend ${quote(ref.name)} is in the namespace ${quote(namespace)}, but can only be used in its own. Leave namespace out and create an XBackend in ${quote(own)}.` });
}

function* filterReferences(filters: readonly Filter[] = [], at: Path): Iterable<readonly [ref: BackendReference, below: Path]> {
  for (const [index, filter] of filters.entries()) {
    for (const member of ['requestMirror', 'externalAuth'] as const) {
      const ref = filter[member]?.backendRef;
      if (ref !== undefined) yield [ref, [...at, index, member, 'backendRef']];
    }
  }
}

function* references(rules: readonly RouteRule[]): Iterable<readonly [ref: BackendReference, below: Path]> {
  for (const [position, { filters, backendRefs = [] }] of rules.entries()) {
    const at = ['spec', 'rules', position];
    yield* filterReferences(filters, [...at, 'filters']);
    for (const [index, ref] of backendRefs.entries()) {
      yield [ref, [...at, 'backendRefs', index]];
      yield* filterReferences(ref.filters, [...at, 'backendRefs', index, 'filters']);
    }
  }
}

export const backendsOfOwnNamespace = demand(backendOfOtherNamespace.id, function judge({ metadata, spec }: WholeObject<{ readonly rules?: readonly RouteRule[] }>, report) {
  for (const [ref, below] of references(spec?.rules ?? [])) judgeReference(ref, below, metadata.namespace, report);
});
