import { readObject } from '../core/graph/inputs.ts';
import type { Reader } from '../core/incremental/index.ts';

/** Returns the labels of a namespace. Every namespace has its name as a label, including one that is not observed yet. */
export function namespaceLabels(read: Reader, namespace: string): Readonly<Record<string, string>> {
  const labels = namespace === '' ? undefined : readObject(read, 'Namespace', '', namespace)?.meta.labels;
  return labels ?? { 'kubernetes.io/metadata.name': namespace };
}
