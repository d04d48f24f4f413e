import { display, quote } from '../../text/display.ts';
import { demand } from '../engine/demand.ts';
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

/** Reports a reference; its path is created for a finding only. */
type ReportReference = (ref: BackendReference, below: () => Path) => void;

function judgeFilters(filters: readonly Filter[] | undefined, at: () => Path, reportIn: ReportReference): void {
  filters?.forEach(({ requestMirror, externalAuth }, index) => {
    if (requestMirror?.backendRef !== undefined)
      reportIn(requestMirror.backendRef, () => [...at(), index, 'requestMirror', 'backendRef']);
    if (externalAuth?.backendRef !== undefined)
      reportIn(externalAuth.backendRef, () => [...at(), index, 'externalAuth', 'backendRef']);
  });
}

function judgeRules(rules: readonly RouteRule[] | undefined, reportIn: ReportReference): void {
  rules?.forEach(({ filters, backendRefs }, position) => {
    judgeFilters(filters, () => ['spec', 'rules', position, 'filters'], reportIn);
    backendRefs?.forEach((ref, index) => {
      const at = (): Path => ['spec', 'rules', position, 'backendRefs', index];
      reportIn(ref, at);
      judgeFilters(ref.filters, () => [...at(), 'filters'], reportIn);
    });
  });
}

export const backendsOfOwnNamespace = demand(
  backendOfOtherNamespace,
  function judge({ metadata, spec }: WholeObject<{ readonly rules?: readonly RouteRule[] }>, report) {
    const own = metadata.namespace;
    judgeRules(spec?.rules, (ref, below) => {
      const { kind, group, namespace = own } = ref;
      if (kind !== 'XBackend' || group !== experimentalGroup || namespace === own) return;
      report({
        below: [...below(), 'namespace'],
        value: display(namespace),
        message: `Invalid namespace ${quote(namespace)}: XBackend ${quote(ref.name)} must be in the namespace of the object that refers to it. Remove namespace, and create the XBackend in namespace ${quote(own)}.`,
      });
    });
  },
);
