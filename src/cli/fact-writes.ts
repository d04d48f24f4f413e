import { authorityFacts, certificateFacts } from '../certificates/index.ts';
import { authorityCell, certificateCell } from '../core/graph/inputs.ts';
import { write, type Write } from '../core/incremental/index.ts';
import type { ObjectRef } from '../core/resources/reference.ts';

/**
 * What evaluation is told of objects whose content it must not see, or needs little of; nothing for all other kinds.
 *
 * @param json the object; `undefined` where it is gone
 */
export function factWrites({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>, json: unknown): readonly Write[] {
  if (kind === 'Secret') return [write(certificateCell, [namespace, name], json === undefined ? undefined : certificateFacts(json))];
  if (kind === 'ConfigMap') return [write(authorityCell, [namespace, name], json === undefined ? undefined : authorityFacts(json))];
  return [];
}
