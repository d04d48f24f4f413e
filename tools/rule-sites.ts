/**
 * Compares the locations at which our rules cover rules of the official CRDs with those CRDs, for all releases and both channels. The
 * CRDs come from the Go module cache and are not stored. Exit code 0: no differences; 1: differences; 2: the CRDs could not be read.
 */
import { compareRules } from './compare-rules.ts';
import { officialBundles, type OfficialBundle } from './official-crds.ts';

const bundles = readBundles();
const comparisons = bundles.map(compareRules);
const differences = comparisons.flatMap((comparison) => comparison.differences);
const compared = comparisons.reduce((sum, comparison) => sum + comparison.compared, 0);
for (const difference of differences) console.log(difference);
console.log(`${compared} official rules in ${bundles.length} bundles compared: ${differences.length} differences`);
process.exitCode = differences.length === 0 ? 0 : 1;

function readBundles(): readonly OfficialBundle[] {
  try {
    return officialBundles();
  } catch (error) {
    console.error((error as Error).message);
    return process.exit(2);
  }
}
