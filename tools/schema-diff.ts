/**
 * Compares what the tables say with the official CRDs, node by node: every property, bound, enum value, default and
 * list type of every version, in both channels. Descriptions and CEL rules (x-kubernetes-validations) are left out:
 * the former are prose, the latter are rules. The CRDs come from the Go module cache and are never kept.
 * Exit code 0: no differences, 1: some, 2: the CRDs could not be read.
 */
import { loadAll } from 'js-yaml';
import { channels, type Bundle, type Channel } from '../src/core/schema/availability.ts';
import { supportedMinors } from '../src/core/schema/bundle.ts';
import { compileToJsonSchema, versionsIn } from '../src/core/schema/compile.ts';
import { tables } from '../src/core/schema/kinds.ts';
import type { KindTable } from '../src/core/schema/tables/table.ts';
import { gatewayApiModule } from './gateway-api-module.ts';
import { readZip } from './zip.ts';

interface Crd {
  readonly kind: 'CustomResourceDefinition';
  readonly spec: {
    readonly group: string;
    readonly scope: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly CrdVersion[];
  };
}

interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated?: boolean;
  readonly schema: { readonly openAPIV3Schema: unknown };
}

const annotations = new Set(['description', 'x-kubernetes-validations']);

let compared = 0;
const differences: string[] = [];

for (const minor of supportedMinors) {
  const archive = moduleArchive(`v${minor}.0`);
  for (const channel of channels) compareBundle({ minor, channel }, readCrds(archive, channel));
}
for (const difference of differences) console.log(difference);
console.log(`${compared} versions of ${gatewayTables().length} kinds compared: ${differences.length} differences`);
process.exitCode = differences.length === 0 ? 0 : 1;

function gatewayTables(): readonly KindTable[] {
  return Object.values<KindTable>(tables).filter((table) => table.group.startsWith('gateway.networking.'));
}

function moduleArchive(version: string): Buffer {
  try {
    return gatewayApiModule(version);
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}

function readCrds(archive: Buffer, channel: Channel): readonly Crd[] {
  const files = readZip(archive, (name) => name.includes(`/config/crd/${channel}/`) && name.endsWith('.yaml'));
  const documents = [...files.values()].flatMap((text) => loadAll(text));
  return documents.filter((document): document is Crd => (document as Partial<Crd> | null)?.kind === 'CustomResourceDefinition');
}

function compareBundle(bundle: Bundle, crds: readonly Crd[]): void {
  for (const table of gatewayTables()) {
    const where = `v${bundle.minor} ${bundle.channel} ${table.kind}`;
    const crd = crds.find(({ spec }) => spec.group === table.group && spec.names.kind === table.kind);
    const versions = versionsIn(table, bundle);
    if (crd !== undefined) {
      compare(`${where} names`, { plural: table.plural, scope: table.namespaced ? 'Namespaced' : 'Cluster' },
        { plural: crd.spec.names.plural, scope: crd.spec.scope });
    }
    compare(`${where} versions`, versions.map(describeVersion), (crd?.spec.versions ?? []).map(describeVersion));
    for (const official of crd?.spec.versions ?? []) {
      compared += 1;
      const ours = compileToJsonSchema(table, official.name, bundle);
      compare(`${where} ${official.name}`, ours, withoutAnnotations(official.schema.openAPIV3Schema));
    }
  }
}

function describeVersion({ name, served, storage, deprecated = false }: Omit<CrdVersion, 'schema'>): unknown {
  return { name, served, storage, deprecated };
}

/** A schema without prose and CEL rules. Below `properties` keys are field names, and `description` may be one. */
function withoutAnnotations(schema: unknown, keysAreFields = false): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutAnnotations(item));
  if (!isRecord(schema)) return schema;
  const kept = Object.entries(schema).filter(([key]) => keysAreFields || !annotations.has(key));
  return Object.fromEntries(kept.map(([key, value]) => {
    if (key === 'default' && !keysAreFields) return [key, value];
    return [key, withoutAnnotations(value, key === 'properties' && !keysAreFields)];
  }));
}

function compare(where: string, ours: unknown, official: unknown): void {
  if (isRecord(ours) && isRecord(official)) {
    for (const key of new Set([...Object.keys(ours), ...Object.keys(official)])) {
      compare(`${where}.${key}`, normalise(key, ours[key]), normalise(key, official[key]));
    }
  } else if (JSON.stringify(ours) !== JSON.stringify(official)) {
    differences.push(`${where}\n  ours:     ${JSON.stringify(ours)}\n  official: ${JSON.stringify(official)}`);
  }
}

/** The order of these lists means nothing. */
function normalise(key: string, value: unknown): unknown {
  return (key === 'required' || key === 'enum') && Array.isArray(value) ? value.map(String).sort((a, b) => a.localeCompare(b)) : value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
