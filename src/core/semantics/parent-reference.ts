import { parentGroupKind } from './intended.ts';

/** A parentRef with defaults. */
export interface ParentNode {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly sectionName?: string;
  readonly port?: number;
}

/** Returns a parentRef, as written in an object of a namespace, with its defaults (ParentReference). */
export function parentNode(ref: Partial<ParentNode>, ownNamespace: string): ParentNode {
  const { sectionName, port } = ref;
  return {
    ...parentGroupKind(ref),
    namespace: ref.namespace ?? ownNamespace,
    name: ref.name ?? '',
    ...(sectionName === undefined ? {} : { sectionName }),
    ...(port === undefined ? {} : { port }),
  };
}

/** Returns a key that is equal for references to the same part of the same parent. */
export function parentKey({ group, kind, namespace, name, sectionName = '', port = 0 }: ParentNode): string {
  return JSON.stringify([group, kind, namespace, name, sectionName, port]);
}
