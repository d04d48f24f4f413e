import { compileToJsonSchema, versionsIn } from '../src/core/schema/compile.ts';
import { schemaTables } from '../src/core/schema/kinds.ts';
import { nameOf } from '../src/core/schema/problem.ts';
import type { KindTable } from '../src/core/schema/tables/table.ts';
import type { Crd, CrdVersion, OfficialBundle } from './official-crds.ts';

/** The result of a comparison. */
export interface Comparison {
  /** Number of compared versions of kinds. */
  readonly compared: number;
  /** One text each: the location, the value in the tables, the value in the official CRDs. */
  readonly differences: readonly string[];
}

/**
 * Compares the tables for a bundle with its official CRDs, node by node, and their kinds and versions. Ignores descriptions, and CEL
 * rules, which are rules of ours.
 */
export function compareBundle({ bundle, crds }: OfficialBundle): Comparison {
  const differences: string[] = [];
  const tables = Object.values<KindTable>(schemaTables).filter((table) =>
    table.group.startsWith('gateway.networking.'),
  );
  const unknown = crds.filter((crd) => !tables.some((table) => isOf(table, crd)));
  for (const crd of unknown)
    differences.push(`${nameOf(bundle)} ${crd.spec.group} ${crd.spec.names.kind}: there is no table for it`);
  for (const table of tables) {
    const where = `${nameOf(bundle)} ${table.kind}`;
    const crd = crds.find((candidate) => isOf(table, candidate));
    const report = (path: string, ours: unknown, theirs: unknown) =>
      compare(`${where} ${path}`, ours, theirs, differences);
    report('versions', versionsIn(table, bundle).map(describeVersion), (crd?.spec.versions ?? []).map(describeVersion));
    if (crd === undefined) continue;
    const { names, scope, versions } = crd.spec;
    report(
      'names',
      { plural: table.plural, scope: table.namespaced ? 'Namespaced' : 'Cluster' },
      { plural: names.plural, scope },
    );
    for (const { name, schema } of versions) {
      report(name, compileToJsonSchema(table, name, bundle), withoutAnnotations(schema.openAPIV3Schema));
    }
  }
  return { compared: crds.flatMap(({ spec }) => spec.versions).length, differences };
}

function isOf(table: KindTable, { spec }: Crd): boolean {
  return spec.group === table.group && spec.names.kind === table.kind;
}

function describeVersion({ name, served, storage, deprecated = false }: Omit<CrdVersion, 'schema'>): unknown {
  return { name, served, storage, deprecated };
}

const annotations = new Set(['description', 'x-kubernetes-validations']);

function withoutAnnotations(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnnotations);
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => !annotations.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutProse(key, value)]));
}

/** Below `properties`, keys are field names, which may include `description`. A default is data. */
function withoutProse(key: string, value: unknown): unknown {
  if (key === 'default') return value;
  if (key !== 'properties' || !isRecord(value)) return withoutAnnotations(value);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutAnnotations(field)]));
}

function compare(where: string, ours: unknown, official: unknown, differences: string[]): void {
  if (isRecord(ours) && isRecord(official)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(official)])) {
      compare(`${where}.${key}`, normalise(key, ours[key]), normalise(key, official[key]), differences);
    }
  } else if (JSON.stringify(ours) !== JSON.stringify(official)) {
    differences.push(`${where}\n  ours:     ${JSON.stringify(ours)}\n  official: ${JSON.stringify(official)}`);
  }
}

/** The order of these lists has no meaning. */
function normalise(key: string, value: unknown): unknown {
  return (key === 'required' || key === 'enum') && Array.isArray(value)
    ? value.map((item) => JSON.stringify(item)).sort((a, b) => a.localeCompare(b))
    : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
