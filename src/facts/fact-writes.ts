import { authorityFacts, certificateFacts, trustBundleFacts } from '../certificates/index.ts';
import { featuresOf } from '../core/admission/class-features.ts';
import { authorityCell, certificateCell, classFeaturesCell, parameterCell } from '../core/graph/inputs.ts';
import { charactersNeeded } from '../core/graph/parameters.ts';
import { write, type Write } from '../core/incremental/index.ts';
import type { ObjectRef } from '../core/resources/reference.ts';

/** Parameters are few and short. Other ConfigMaps hold whole files, of which only the beginning is needed here. */
const maxParameters = 32;

/** The data of a ConfigMap, limited to what parameters may use. Never throws. */
function parameterFacts(json: unknown): Readonly<Record<string, string>> {
  const data = typeof json === 'object' && json !== null && 'data' in json ? json.data : undefined;
  if (typeof data !== 'object' || data === null) return {};
  const entries = Object.entries(data)
    .slice(0, maxParameters)
    .map(([key, value]) => [key, typeof value === 'string' ? value.slice(0, charactersNeeded(key)) : '']);
  // A beginning of a long text would keep all of it in memory.
  return structuredClone(Object.fromEntries(entries));
}

/** The features in the status of a GatewayClass. Before v1.2 each was a plain name. Never throws. */
export function classFeatureWrites({ kind, name }: Pick<ObjectRef, 'kind' | 'name'>, json: unknown): readonly Write[] {
  return kind === 'GatewayClass' ? [write(classFeaturesCell, [name], featuresOf(json))] : [];
}

/**
 * The facts for the evaluation about objects whose content it must not see or mostly does not need. None for other kinds.
 *
 * @param json the object; `undefined` if it was deleted
 */
export function factWrites(
  { kind, namespace, name }: Pick<ObjectRef, 'kind' | 'namespace' | 'name'>,
  json: unknown,
): readonly Write[] {
  if (kind === 'Secret')
    return [write(certificateCell, [namespace, name], json === undefined ? undefined : certificateFacts(json))];
  if (kind === 'ConfigMap') {
    return [
      write(authorityCell, [namespace, name], json === undefined ? undefined : authorityFacts(json)),
      write(parameterCell, [namespace, name], json === undefined ? undefined : parameterFacts(json)),
    ];
  }
  return kind === 'ClusterTrustBundle'
    ? [write(authorityCell, ['', name], json === undefined ? undefined : trustBundleFacts(json))]
    : [];
}
