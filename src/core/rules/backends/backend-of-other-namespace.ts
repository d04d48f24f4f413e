import { display, quote } from '../../text/display.ts';
import { demand, type ReportViolation } from '../engine/demand.ts';
import { deniedWhenStrict } from '../engine/effects.ts';
import type { Rule } from '../engine/rule.ts';
import type { WholeObject } from '../engine/written-object.ts';
import { type BackendReference, experimentalGroup } from './backend-kinds.ts';
import type { ViewAt } from '../../schema/index.ts';

/** ReferenceGrants do not support XBackends. */
export const backendOfOtherNamespace: Rule = {
  id: 'backend-of-other-namespace',
  summary: 'A reference names an XBackend in another namespace, which is never permitted.',
  effect: deniedWhenStrict,
  source: 'GEP-4894, Backend resource (must be in the namespace of those that refer to it)',
};

type Filter = ViewAt<'HTTPRoute', 'spec.rules[].filters[]'>;

type RouteRule = Omit<ViewAt<'HTTPRoute', 'spec.rules[]'>, 'matches'>;

type Path = readonly (string | number)[];

function judgeReference(ref: BackendReference, below: Path, own: string, report: ReportViolation): void {
  const { kind, group, namespace = own } = ref;
  if (kind !== 'XBackend' || group !== experimentalGroup || namespace === own) return;
  report({
    below: [...below, 'namespace'],
    value: display(namespace),
    message: `Invalid namespace ${quote(namespace)}: XBackend ${quote(ref.name)} must be in the namespace of the object that refers to it. Remove namespace, and create the XBackend in namespace ${quote(own)}.`,
  });
}

function* filterReferences(
  filters: readonly Filter[] = [],
  at: Path,
): Iterable<readonly [ref: BackendReference, below: Path]> {
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

export const backendsOfOwnNamespace = demand(
  backendOfOtherNamespace,
  function judge({ metadata, spec }: WholeObject<{ readonly rules?: readonly RouteRule[] }>, report) {
    for (const [ref, below] of references(spec?.rules ?? [])) judgeReference(ref, below, metadata.namespace, report);
  },
);
