import type { FieldProblem, KindName, ViewOf } from '../schema/index.ts';
import { isWithin, type Path } from './path.ts';
import type { ObjectRef } from './reference.ts';

export type { KindName } from '../schema/index.ts';

/** The metadata available to evaluation. */
export interface ObjectMeta {
  readonly generation: number;
  /**
   * Sorts objects by age: creationTimestamp (RFC 3339, UTC). For sources without timestamps: `~` and the order of
   * appearance, which sorts after every timestamp.
   */
  readonly created: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly deleting: boolean;
  /** Only of XBackends: it distinguishes their endpoints from those of a deleted XBackend with the same name. Absent in most files. */
  readonly uid?: string;
}

/**
 * An object as evaluation sees it: its identity and its readable fields. Every field is optional, whatever the schema says,
 * because the API server may have stored objects that the current schema would reject. Status is not included. For several
 * kinds, the type is the union of their resources, discriminated by `kind`.
 */
export type Resource<K extends KindName = KindName> = K extends KindName ? ResourceFrame<K> & ViewOf<K> : never;

export interface ResourceFrame<K extends KindName = KindName> {
  readonly kind: K;
  readonly ref: ObjectRef;
  readonly meta: ObjectMeta;
  /** Fields with a wrong JSON type, which the view omits. Code that reads such a part must fail closed. */
  readonly unreadable: readonly FieldProblem[];
}

/** Whether `path`, all fields below it and all fields that contain it could be read. */
export function isReadable(resource: ResourceFrame, path: Path): boolean {
  return !resource.unreadable.some((problem) => isWithin(problem.path, path) || isWithin(path, problem.path));
}

/** Whether the view omits the value at `path` because that value, or a field that contains it, could not be read. */
export function isLost(resource: ResourceFrame, path: Path): boolean {
  return resource.unreadable.some((problem) => isWithin(path, problem.path));
}
