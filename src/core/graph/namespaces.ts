import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { selectorMatches } from '../text/selector.ts';
import { readObject } from './inputs.ts';
import { isUnknown } from './observed.ts';
import { strata } from './strata.ts';

/** From which namespaces something may attach. */
export type AllowedNamespaces =
  | { readonly from: 'All' | 'Same' | 'None' }
  | { readonly from: 'Selector'; readonly selector: object };

interface NamespacesView {
  readonly from?: string;
  readonly selector?: object;
}

/** Reads RouteNamespaces or ListenerNamespaces; `byDefault` holds where nothing is said. */
export function allowedNamespaces(view: NamespacesView | undefined, byDefault: 'Same' | 'None'): AllowedNamespaces {
  const from = view?.from ?? byDefault;
  if (from === 'All' || from === 'Same') return { from };
  // An unknown value or a selector that is not there allows nobody: a wider reading could let strangers in.
  return from === 'Selector' && view?.selector !== undefined ? { from, selector: view.selector } : { from: 'None' };
}

/** Labels of a namespace, the one that Kubernetes always sets included; known even where no Namespace object is. */
export const namespaceLabels = defineQuery({
  name: 'namespaceLabels',
  stratum: strata.links,
  compute: (read, namespace: string): Readonly<Record<string, string>> => ({
    ...readObject(read, 'Namespace', '', namespace)?.meta.labels,
    'kubernetes.io/metadata.name': namespace,
  }),
});

/** Whether something in `namespace` may attach to what stands in `own`. */
export function allowsNamespace(read: Reader, allowed: AllowedNamespaces, own: string, namespace: string): boolean {
  if (allowed.from === 'Selector') return selectorMatches(allowed.selector, read.query(namespaceLabels, namespace));
  return allowed.from === 'All' || (allowed.from === 'Same' && own === namespace);
}

/** Whether that may be so because of labels of which nothing is known here. Nobody is let in for them. */
export function mayAllowNamespace(read: Reader, allowed: AllowedNamespaces, namespace: string): boolean {
  return allowed.from === 'Selector' && isUnknown(read, 'Namespace', () => readObject(read, 'Namespace', '', namespace));
}
