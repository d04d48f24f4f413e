import { display, quote } from '../text/display.ts';

/**
 * The identity of an object. `group` is `''` for the core group, `namespace` is `''` for cluster-scoped kinds.
 * The version is no part of the identity: the same object is served under several.
 */
export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** How people name an object: `HTTPRoute shop/cart`, `GatewayClass internal`. */
export function describeRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${ref.kind} ${qualifiedName(ref)}`;
}

/** The same in a sentence: `HTTPRoute "shop/cart"`. Names of references may hold any text, so it is escaped. */
export function quoteRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return `${display(ref.kind)} ${quote(qualifiedName(ref), longestName)}`;
}

/** Characters of a namespace, a slash and a name. */
const longestName = 320;

/** `namespace/name`, or the name alone for cluster-scoped kinds. */
export function qualifiedName(ref: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return ref.namespace === '' ? ref.name : `${ref.namespace}/${ref.name}`;
}
