import { formatPath, type Path } from '../../src/core/resources/path.ts';
import { partsOf, type Site } from '../../src/core/rules/official/sites.ts';
import { officialSites } from '../../src/core/rules/official/table.ts';
import type { Bundle } from '../../src/core/schema/availability.ts';
import { versionsIn } from '../../src/core/schema/compile.ts';
import { schemaTables, type SchemaKind } from '../../src/core/schema/kinds.ts';
import { nodeAt } from '../../src/core/schema/locate.ts';
import type { ObjectNode } from '../../src/core/schema/node.ts';
import { apiVersionOf, type KindTable } from '../../src/core/schema/tables/table.ts';
import { refusedByRules, refusedBySchema } from '../support/schema.ts';

/** One version of a kind that a bundle serves. */
export interface Subject {
  readonly bundle: Bundle;
  readonly kind: SchemaKind;
  readonly version: string;
  readonly table: KindTable;
  readonly body: ObjectNode;
}

/** Everything that the API server of a bundle takes objects of. */
export function subjectsOf(bundle: Bundle): readonly Subject[] {
  const tables = Object.values<KindTable>(schemaTables).filter(({ group }) => group.startsWith('gateway.networking.'));
  return tables.flatMap((table) =>
    versionsIn(table, bundle)
      .filter(({ served }) => served)
      .map(({ name, body }) => ({
        bundle,
        kind: table.kind as SchemaKind,
        version: name,
        table,
        body: body ?? table.body,
      })),
  );
}

/** An object of a subject; the API server drops whatever status a new object has. */
export function objectWith({ table, version }: Subject, spec: unknown): unknown {
  const metadata = { name: 'differential', ...(table.namespaced ? { namespace: 'default' } : {}) };
  return {
    apiVersion: apiVersionOf(table, version),
    kind: table.kind,
    metadata,
    ...(spec === undefined ? {} : { spec }),
  };
}

/** A reason to refuse an object, with the place that it names. */
export interface Reason {
  readonly path: Path;
  readonly field: string;
  readonly message: string;
  readonly from: 'schema' | 'rule';
  /** `schema`, or the id of the rule. */
  readonly rule: string;
}

/** Why we say that the API server refuses an object; empty where we say that it does not. */
export function predict({ kind, bundle }: Subject, json: unknown): readonly Reason[] {
  const { apiVersion } = json as { readonly apiVersion: string };
  const structure = refusedBySchema(kind, apiVersion, json, bundle).filter(({ keyword }) => keyword !== 'unknown');
  return [
    ...structure.map(({ path, message }): Reason => ({
      path,
      field: formatPath(path),
      message,
      from: 'schema',
      rule: 'schema',
    })),
    ...refusedByRules(kind, apiVersion, json, bundle).map(({ path, message, rule }): Reason => ({
      path,
      field: formatPath(path),
      message,
      from: 'rule',
      rule,
    })),
  ];
}

/** The places below spec at which a bundle demands something of a subject beyond its schema. */
export function sitesOf(subject: Subject): readonly Path[] {
  return demandedIn(subject).map(({ path }) => partsOf(path));
}

/** The rules that can refuse an object of a subject. */
export function demandedRules(subject: Subject): readonly string[] {
  return demandedIn(subject).flatMap(({ demands }) => demands.map(({ rule }) => rule.id));
}

function demandedIn({ kind, version, bundle, body }: Subject): readonly Site[] {
  return officialSites(kind, version, bundle).filter(
    ({ path }) => path.startsWith('spec') && nodeAt(body, partsOf(path), bundle) !== undefined,
  );
}
