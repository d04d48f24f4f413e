/**
 * Writes `src/core/schema/known-schemas.ts`: the hashes of the schemas in the official CRDs, and the bundles that contain them. Only
 * served versions and releases in the tables count. An earlier patch release counts if the last one changed only CEL rules, because
 * it corrected them. With `--check` the tool only compares. The CRDs come from the Go module cache and are not stored.
 * Exit code 0: written, or up to date; 1: the file is out of date; 2: the CRDs could not be read.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { minors, type Bundle } from '../src/core/schema/availability.ts';
import { hashSchema } from '../src/kubernetes/custom-resource-definition.ts';
import { compareBundle } from './compare-schema.ts';
import { earlierBundles, officialBundles, type OfficialBundle } from './official-crds.ts';

const target = new URL('../src/core/schema/known-schemas.ts', import.meta.url);
const head = `// Written by tools/known-schemas.ts from the official CRDs; do not edit.

/** \`<name of the CRD>/<version> <hash of its schema>\` to the bundles that have exactly this schema, oldest first. */
export const knownSchemas: Readonly<Record<string, string>> = {
`;

const described = readBundles().filter((bundle) => compareBundle(bundle).differences.length === 0);
const text = render(described);
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error('src/core/schema/known-schemas.ts is out of date: run node tools/known-schemas.ts');
  process.exitCode = 1;
}

function readBundles(): readonly OfficialBundle[] {
  try {
    return [...officialBundles(), ...earlierBundles()];
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}

function render(bundles: readonly OfficialBundle[]): string {
  const names = new Map<string, Set<string>>();
  for (const { bundle, crds } of bundles.toSorted((left, right) => rank(left.bundle) - rank(right.bundle))) {
    for (const { spec } of crds) {
      for (const { name, schema } of spec.versions.filter(({ served }) => served)) {
        const key = `${spec.names.plural}.${spec.group}/${name} ${hashSchema(schema.openAPIV3Schema)}`;
        names.set(key, (names.get(key) ?? new Set()).add(`${bundle.minor}/${bundle.channel}`));
      }
    }
  }
  const lines = [...names]
    .toSorted(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, some]) => `  '${key}': '${[...some].join(' ')}',`);
  return `${head}${lines.join('\n')}\n};\n`;
}

/** Sorts by age. The standard channel of a release comes last: a schema without experimental fields is called standard. */
function rank({ minor, channel }: Bundle): number {
  return 2 * minors.indexOf(minor) + Number(channel === 'standard');
}
