import { isRecord, recordOf } from '../core/text/record.ts';
import { tables } from '../core/schema/index.ts';
import type { SourceDocument } from '../files/document.ts';
import { clusterDocument, identityOf, type SourceObjects } from '../sources/objects.ts';
import { controllerName } from './names.ts';

/** Documents with GatewayClasses that may not be listed, and a note about the assumption. */
interface Assumed {
  readonly documents: readonly SourceDocument[];
  readonly notes: readonly string[];
}

/**
 * Adds GatewayClasses of this controller if the credentials may not list GatewayClasses: without a class, no Gateway has a listener.
 *
 * @param chosen the names of the classes; none: all classes that Gateways name
 */
export function withAssumedClasses({ documents, installation }: SourceObjects, chosen: readonly string[]): Assumed {
  if (!installation.unobserved.includes('GatewayClass')) return { documents, notes: [] };
  const known = new Set(documents.map(identityOf));
  const names = chosen.length > 0 ? chosen : [...new Set(documents.flatMap(({ value }) => classNameOf(value)))];
  const assumed = names.filter((name) => !known.has(`GatewayClass//${name}`)).toSorted();
  if (assumed.length === 0) return { documents, notes: [] };
  return {
    documents: [...documents, ...assumed.map(classNamed)],
    notes:
      chosen.length > 0
        ? []
        : [
            `Every GatewayClass that a Gateway names is assumed to be a class of Sallyport: ${assumed.join(', ')}. Use --gateway-class to name the classes of Sallyport.`,
          ],
  };
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
