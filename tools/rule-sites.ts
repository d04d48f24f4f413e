/**
 * Compares the places at which our rules stand for rules of the official CRDs with those CRDs, of all releases, in both
 * channels. The CRDs come from the Go module cache and are never kept. Exit code 0: no differences, 1: some, 2: the
 * CRDs could not be read.
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
