import { authorityFacts, certificateFacts } from '../certificates/index.ts';
import { featuresOf } from '../core/admission/class-features.ts';
import { authorityCell, certificateCell, classFeaturesCell, parameterCell } from '../core/graph/inputs.ts';
import { charactersNeeded } from '../core/graph/parameters.ts';
import { write, type Write } from '../core/incremental/index.ts';
import type { ObjectRef } from '../core/resources/reference.ts';

/** Parameters are few and short; other ConfigMaps hold whole files, of which nobody here needs more than the beginning. */
const mostParameters = 32;

/** The data of a ConfigMap as far as it may be parameters. Never throws. */
function parameterFacts(json: unknown): Readonly<Record<string, string>> {
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined;
  if (typeof data !== 'object' || data === null) return {};
  const entries = Object.entries(data).slice(0, mostParameters).map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, charactersNeeded(key)) : '']);
  return Object.fromEntries(entries);
}

/** The features that the status of a GatewayClass lists; before v1.2 each was a name alone. Never throws. */
export function classFeatureWrites({ kind, name }: Pick<ObjectRef, 'kind' | 'name'>, json: unknown): readonly Write[] {
  return kind === 'GatewayClass' ? [write(classFeaturesCell, [name], featuresOf(json))] : [];
}

/**
 * What evaluation is told of objects whose content it must not see, or needs little of; nothing for all other kinds.
 *
 * @param json the object; `undefined` where it is gone
 */
export function factWrites({ kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>, json: unknown): readonly Write[] {
  if (kind === 'Secret') return [write(certificateCell, [namespace, name], json === undefined ? undefined : certificateFacts(json))];
  if (kind === 'ConfigMap') {
    return [
      write(authorityCell, [namespace, name], json === undefined ? undefined : authorityFacts(json)),
      write(parameterCell, [namespace, name], json === undefined ? undefined : parameterFacts(json)),
    ];
  }
  return [];
}
