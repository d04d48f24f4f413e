import { observes } from '../core/graph/observed.ts';
import { isRecord, recordOf } from '../core/text/record.ts';
import { tables } from '../core/schema/index.ts';
import type { SourceDocument } from '../files/document.ts';
import { clusterDocument, identityOf, type SourceObjects } from '../sources/objects.ts';
import { printNotes } from './evaluated.ts';
import { controllerName } from './names.ts';

/**
 * Adds GatewayClasses of this controller to the documents of a source if the credentials may not list GatewayClasses: without a class, no
 * Gateway has a listener. Writes to standard error which classes it assumes, unless they are chosen.
 *
 * @param chosen the names of the classes; none: all classes that Gateways name
 * @param change further documents whose Gateways count
 */
export function withAssumedClasses(
  { documents, installation }: SourceObjects,
  chosen: readonly string[],
  change: readonly SourceDocument[] = [],
): readonly SourceDocument[] {
  if (observes(installation, { kind: 'GatewayClass', namespace: '' })) return documents;
  const known = new Set(documents.map(identityOf));
  const named = (): readonly string[] => [...documents, ...change].flatMap(({ value }) => classNameOf(value));
  const names = new Set(chosen.length > 0 ? chosen : named());
  const assumed = [...names].filter((name) => !known.has(`GatewayClass//${name}`)).toSorted();
  if (assumed.length > 0 && chosen.length === 0)
    printNotes([
      `Every GatewayClass that a Gateway names is assumed to be a class of Sallyport: ${assumed.join(', ')}. Use --gateway-class to name the classes of Sallyport.`,
    ]);
  return [...documents, ...assumed.map(classNamed)];
}

function classNameOf(object: unknown): readonly string[] {
  if (!isRecord(object) || object['kind'] !== 'Gateway') return [];
  const name = recordOf(object['spec'])['gatewayClassName'];
  return typeof name === 'string' && name !== '' ? [name] : [];
}

function classNamed(name: string, index: number): SourceDocument {
  const { group, kind } = tables.GatewayClass;
  return clusterDocument({ apiVersion: `${group}/v1`, kind, metadata: { name }, spec: { controllerName } }, index);
}
