/**
 * Packs one static program as an image: node program-image.ts OUT.tar REFERENCE[,REFERENCE...] PROGRAM
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { writeOciArchive } from './oci-archive.ts';

const [out, references, program] = process.argv.slice(2);
if (out === undefined || references === undefined || program === undefined)
  throw new Error('usage: program-image.ts OUT.tar REFERENCE[,REFERENCE...] PROGRAM');
const name = basename(program);
writeOciArchive(out, references.split(','), {
  config: { Entrypoint: [`/${name}`] },
  layer: [{ path: name, mode: 0o755, content: readFileSync(program) }],
});
