import { defineQuery } from '../incremental/index.ts';
import type { Reader } from '../incremental/reader.ts';
import { selectorMatches } from '../text/selector.ts';
import { readObject } from './inputs.ts';
import { isObserved } from './observed.ts';
import { strata } from './strata.ts';
import type { ViewAt } from '../schema/index.ts';

/** The namespaces from which objects may attach. */
export type AllowedNamespaces =
  | { readonly from: 'All' | 'Same' | 'None' }
  | { readonly from: 'Selector'; readonly selector: object };

type NamespacesView = ViewAt<'Gateway', 'spec.listeners[].allowedRoutes.namespaces'>;

/** Converts RouteNamespaces or ListenerNamespaces. `from` is the intended value, with its default. */
export function allowedNamespaces(view: NamespacesView | undefined, from: string): AllowedNamespaces {
  if (from === 'All' || from === 'Same') return { from };
  // An unknown value or a missing selector allows no namespace: any other interpretation could allow too many.
  return from === 'Selector' && view?.selector !== undefined ? { from, selector: view.selector } : { from: 'None' };
}

/** Returns the labels of a namespace, including the one that Kubernetes always sets. That one is known without a Namespace object. */
export function labelsOfNamespace(read: Reader, namespace: string): Readonly<Record<string, string>> {
  return { ...readObject(read, 'Namespace', '', namespace)?.meta.labels, 'kubernetes.io/metadata.name': namespace };
}

/** The labels of a namespace, as `labelsOfNamespace` returns them. */
export const namespaceLabels = defineQuery({
  name: 'namespaceLabels',
  stratum: strata.links,
  compute: labelsOfNamespace,
});

/** Returns whether objects in `namespace` may attach to an object in `own`. */
export function allowsNamespace(read: Reader, allowed: AllowedNamespaces, own: string, namespace: string): boolean {
  if (allowed.from === 'Selector') return selectorMatches(allowed.selector, read.query(namespaceLabels, namespace));
  return allowed.from === 'All' || (allowed.from === 'Same' && own === namespace);
}

/** Returns whether the namespace may be allowed because of labels that are unknown here. Unknown labels never allow anything. */
export function mayAllowNamespace(read: Reader, allowed: AllowedNamespaces, namespace: string): boolean {
  return (
    allowed.from === 'Selector' &&
    !isObserved(read, 'Namespace', '') &&
    readObject(read, 'Namespace', '', namespace) === undefined
  );
}
