import { display, quote } from '../text/display.ts';

/**
 * The identity of an object. `group` is `''` for the core group, `namespace` is `''` for cluster-scoped kinds. The version
 * is not part of it: the same object is served under several versions.
 */
export interface ObjectRef {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

/** The name of an object in texts: `HTTPRoute shop/cart`, `GatewayClass internal`. */
export function describeRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return [ref.kind, qualifiedName(ref)].join(' ');
}

/**
 * The quoted name of an object for sentences: `HTTPRoute "shop/cart"`. Names in references may contain any text, so it is
 * escaped.
 */
export function quoteRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return [display(ref.kind), quote(qualifiedName(ref), longestName)].join(' ');
}

/**
 * `kind/namespace/name`, as a key of maps and sets. Two objects of one kind in different groups do not occur in one evaluation.
 *
 * Keys and names that are kept for each object are joined: V8 would keep a template as a tree of its parts, which takes more than twice the
 * memory.
 */
export function keyOfRef(ref: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>): string {
  return [ref.kind, ref.namespace, ref.name].join('/');
}

/** Returns the parts of such a key. Kinds and namespaces never contain a slash; names in files can. */
export function refOfKey(key: string): Pick<ObjectRef, 'kind' | 'namespace' | 'name'> {
  const [kind = '', namespace = '', ...name] = key.split('/');
  return { kind, namespace, name: name.join('/') };
}

/** Returns the parts of such a key as arguments of a cell or query. */
export function argsOfKey(key: string): readonly [kind: string, namespace: string, name: string] {
  const { kind, namespace, name } = refOfKey(key);
  return [kind, namespace, name];
}

/** Maximum number of characters of a namespace, a slash and a name. */
const longestName = 320;

/** `namespace/name`, or only the name for cluster-scoped kinds. */
export function qualifiedName(ref: Pick<ObjectRef, 'namespace' | 'name'>): string {
  return ref.namespace === '' ? ref.name : [ref.namespace, ref.name].join('/');
}

/** Returns the namespace and name of such a text. A namespace never contains a slash. */
export function ofQualifiedName(text: string): Pick<ObjectRef, 'namespace' | 'name'> {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, Math.max(slash, 0)), name: text.slice(slash + 1) };
}

/** Returns the namespace and name of such a text as arguments of a cell or query. */
export function argsOfName(text: string): readonly [namespace: string, name: string] {
  const { namespace, name } = ofQualifiedName(text);
  return [namespace, name];
}
