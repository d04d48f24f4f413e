import { quote } from '../text/display.ts';
import { resolve, type Bundle } from './availability.ts';
import { versionsIn } from './compile.ts';
import { schemaTables, type SchemaKind } from './kinds.ts';
import { nameOf, whereabouts, type StructureProblem } from './problem.ts';
import { apiVersionOf, type KindTable, type KindVersion } from './tables/table.ts';

/**
 * The version of a kind for an apiVersion such as `gateway.networking.k8s.io/v1` in a bundle, served or not; `undefined` if
 * the bundle does not have it.
 */
export function versionOf(kind: SchemaKind, apiVersion: string, bundle: Bundle): KindVersion | undefined {
  const table: KindTable = schemaTables[kind];
  return versionsIn(table, bundle).find(({ name }) => apiVersionOf(table, name) === apiVersion);
}

/**
 * Explains why the API server of a bundle does not serve such an object, which bundles do, and what to use instead.
 * `undefined` if the bundle serves it.
 */
export function whyNotServed(kind: SchemaKind, apiVersion: string, bundle: Bundle): StructureProblem | undefined {
  if (versionOf(kind, apiVersion, bundle)?.served === true) return undefined;
  const table: KindTable = schemaTables[kind];
  const served = versionsIn(table, bundle)
    .filter((version) => version.served)
    .map(({ name }) => apiVersionOf(table, name));
  return served.length === 0 ? missingKind(table, bundle) : missingVersion(kind, apiVersion, { bundle, served });
}

function missingKind(table: KindTable, bundle: Bundle): StructureProblem {
  const place = whereabouts((candidate) => versionsIn(table, candidate).length > 0);
  const successor = table.instead === undefined ? undefined : resolve(table.instead, bundle);
  const advice = successor === undefined ? '' : ` Use ${successor}.`;
  return {
    path: ['kind'],
    message: `Unsupported kind ${table.kind}: it ${place ?? 'is in no bundle'}, not in ${nameOf(bundle)}.${advice}`,
    keyword: 'enum',
  };
}

interface Serving {
  readonly bundle: Bundle;
  readonly served: readonly string[];
}

function missingVersion(kind: SchemaKind, apiVersion: string, { bundle, served }: Serving): StructureProblem {
  const place = whereabouts((candidate) => versionOf(kind, apiVersion, candidate)?.served === true);
  const elsewhere = place === undefined ? '' : ` (it ${place})`;
  const message = `Unsupported version ${quote(apiVersion)}: ${nameOf(bundle)} does not serve it${elsewhere}. Use ${served.join(' or ')}.`;
  return { path: ['apiVersion'], message, keyword: 'enum' };
}
