import { deletedCell, objectCell } from '../core/graph/inputs.ts';
import { write, type Write } from '../core/incremental/index.ts';
import { parseObject } from '../core/resources/parse.ts';
import type { ObjectRef } from '../core/resources/reference.ts';
import { classFeatureWrites, factWrites } from '../facts/fact-writes.ts';

type Identity = Pick<ObjectRef, 'kind' | 'namespace' | 'name'>;

/**
 * The input of the evaluation for an object of the cluster. The contents of Secrets and ConfigMaps are reduced to facts here. An
 * object that is invalid for its kind counts as absent.
 *
 * @param json the object; `undefined` if it does not exist
 */
export function objectWrites(ref: Identity, json: unknown): readonly Write[] {
  const { kind, namespace, name } = ref;
  const facts = factWrites(ref, json);
  if (facts.length > 0) return facts;
  const parsed = json === undefined ? undefined : parseObject(json);
  return [
    write(objectCell, [kind, namespace, name], parsed?.type === 'resource' ? parsed.resource : undefined),
    ...classFeatureWrites(ref, json),
  ];
}

/** The input of the evaluation for an object that a change deletes. Only for overlays. */
export function deletionWrites(ref: Identity): readonly Write[] {
  return [...objectWrites(ref, undefined), write(deletedCell, [ref.kind, ref.namespace, ref.name], true)];
}
