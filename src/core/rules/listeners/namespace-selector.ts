import type { Path } from '../../resources/path.ts';
import { isReadable, type Resource } from '../../resources/resource.ts';
import { selectorProblems } from '../../text/selector.ts';
import { denied } from '../engine/effects.ts';
import { unsupportedValueAt } from '../engine/parts.ts';
import { rule, type Consequence } from '../engine/rule.ts';

/** Schemas can neither validate the operators of a label selector nor relate it to `from`. */
export const namespaceSelector = rule({
  id: 'namespace-selector',
  kinds: ['Gateway', 'ListenerSet'],
  summary: 'A namespace selector is missing or invalid.',
  effect: denied,
  varies: ['condition', 'reason', 'scope'],
  source:
    'Gateway API v1.7.0, RouteNamespaces.selector and ListenerNamespaces.selector ("must be specified when From is set to Selector")',
  check(owner, _read, report) {
    for (const { namespaces, path, consequence } of namespaceChoices(owner)) {
      const at = [...path, 'selector'];
      if (namespaces?.from !== 'Selector' || !isReadable(owner, at)) continue;
      const { selector } = namespaces;
      if (selector === undefined) {
        report({
          path: at,
          ...consequence,
          message:
            'selector is required with from: Selector. Without it, no namespace matches. Set matchLabels under selector, for example kubernetes.io/metadata.name: shop, or use from: Same or from: All.',
        });
        continue;
      }
      for (const problem of selectorProblems(selector)) {
        report({
          path: [...at, ...problem.path],
          ...consequence,
          message: `Invalid selector, so no namespace matches: ${problem.message}.`,
        });
      }
    }
  },
});

interface NamespaceChoice {
  readonly path: Path;
  readonly namespaces: { readonly from?: string; readonly selector?: object } | undefined;
  /** A listener to which no route can attach has a problem in status. A Gateway works without ListenerSets. */
  readonly consequence: { readonly consequence?: Consequence };
}

function namespaceChoices({ spec }: Resource<'Gateway' | 'ListenerSet'>): readonly NamespaceChoice[] {
  const ofListeners = (spec?.listeners ?? []).map((listener, index): NamespaceChoice => {
    const path = ['spec', 'listeners', index, 'allowedRoutes', 'namespaces'];
    return {
      path,
      namespaces: listener.allowedRoutes?.namespaces,
      consequence: { consequence: unsupportedValueAt(path) },
    };
  });
  const ofSets =
    spec !== undefined && 'allowedListeners' in spec
      ? [
          {
            path: ['spec', 'allowedListeners', 'namespaces'],
            namespaces: spec.allowedListeners?.namespaces,
            consequence: {},
          },
        ]
      : [];
  return [...ofListeners, ...ofSets];
}
