/**
 * Compares the tables with the official CRDs of all releases, node by node: every property, bound, enum value, default and list type of
 * every version, in both channels. The CRDs come from the Go module cache and are not stored.
 * Exit code 0: no differences; 1: differences; 2: the CRDs could not be read.
 */
import { compareBundle } from './compare-schema.ts';
import { officialBundles, type OfficialBundle } from './official-crds.ts';

const bundles = readBundles();
const comparisons = bundles.map(compareBundle);
const differences = comparisons.flatMap((comparison) => comparison.differences);
const compared = comparisons.reduce((sum, comparison) => sum + comparison.compared, 0);
for (const difference of differences) console.log(difference);
console.log(`${compared} versions of kinds in ${bundles.length} bundles compared: ${differences.length} differences`);
process.exitCode = differences.length === 0 ? 0 : 1;

function readBundles(): readonly OfficialBundle[] {
  try {
    return officialBundles();
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}
