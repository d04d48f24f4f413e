import type { FieldProblem, KindName, ViewOf } from '../schema/index.ts';
import { isWithin, type Path } from './path.ts';
import type { ObjectRef } from './reference.ts';

export type { KindName } from '../schema/index.ts';

/** The part of metadata that evaluation may look at. */
export interface ObjectMeta {
  readonly generation: number;
  /**
   * Sorts objects by age: creationTimestamp (RFC 3339, UTC), or where the source has no clock, `~` and the order of
   * appearance, which sorts after every timestamp.
   */
  readonly created: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly deleting: boolean;
}

/**
 * An object as evaluation sees it: identity, and its fields as far as they could be read. Every field is optional,
 * whatever a schema says, because the API server stores objects that no present schema would accept.
 * Status is not part of it. Of several kinds it is one of their resources, told apart by `kind`.
 */
export type Resource<K extends KindName = KindName> = K extends KindName ? ResourceFrame<K> & ViewOf<K> : never;

export interface ResourceFrame<K extends KindName = KindName> {
  readonly kind: K;
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  /** What has the wrong JSON type and was left out of the view. Whoever reads a part must fail closed on these. */
  readonly unreadable: readonly FieldProblem[];
}

/** Whether everything at and below `path` could be read, and all that `path` lies in. */
export function isReadable(resource: ResourceFrame, path: Path): boolean {
  return !resource.unreadable.some((problem) => isWithin(problem.path, path) || isWithin(path, problem.path));
}

/** Whether the value at `path` itself is missing from the view because it, or what it lies in, could not be read. */
export function isLost(resource: ResourceFrame, path: Path): boolean {
  return resource.unreadable.some((problem) => isWithin(path, problem.path));
}
