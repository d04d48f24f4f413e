/** Prints the official CRDs of a bundle: node crds.ts VERSION CHANNEL */
import { crdManifests } from './crd-manifests.ts';

const [version, channel] = process.argv.slice(2);
if (version === undefined || channel === undefined) throw new Error('usage: crds.ts VERSION CHANNEL');
try {
  process.stdout.write(crdManifests(version, channel));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
